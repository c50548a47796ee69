/// Which tensors a model is made of.
#pragma once

#include <string>
#include <vector>

#include "vit/base/config.h"
#include "weights/layouts/rules.h"

namespace vit::weights {

struct Demand {
  std::string name;
  Shape shape;
  bool optional = false;
};

/// Every tensor that a model of this configuration has, in the order of the forward pass.
std::vector<Demand> demands(const ModelConfig& config);

/// Throws an Error naming the first tensor of demands(config) that is missing or has another shape.
/// Makes no list: a configuration may name thousands of layers that its file does not hold.
void check_demands(const ModelConfig& config, const WeightMap& weights, const std::string& where);

}  // namespace vit::weights
