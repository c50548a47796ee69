/// A checkpoint with random weights, large enough to matter, for any configuration.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "vit/base/config.h"
#include "weights/checkpoint.h"
#include "weights/tensor_list.h"

namespace vit::test {

inline weights::Checkpoint random_checkpoint(const ModelConfig& config, unsigned seed = 1) {
  weights::Checkpoint checkpoint;
  checkpoint.path = config.architecture.empty() ? "random" : config.architecture;
  checkpoint.config = config;
  checkpoint.recipe.crop_height = checkpoint.recipe.resize_height = config.embedding.image_height;
  checkpoint.recipe.crop_width = checkpoint.recipe.resize_width = config.embedding.image_width;
  std::mt19937 engine(seed);
  for (const weights::TensorSpec& spec : weights::tensors_of(config)) {
    const size_t n = weights::element_count(spec.shape);
    // Rows that keep the size of what they are multiplied with; vectors of norms around 1.
    const size_t inner = spec.shape.size() < 2 ? 4 : n / spec.shape.front();
    const bool gain = spec.role == weights::TensorRole::kNormGain;
    std::normal_distribution<float> normal(gain ? 1.0f : 0.0f,
                                           1.0f / std::sqrt(static_cast<float>(inner)));
    auto storage = std::make_shared<std::vector<float>>(n);
    for (float& value : *storage) value = normal(engine);
    if (spec.name.ends_with(".variance"))
      for (float& value : *storage) value = 0.5f + value * value;
    checkpoint.add(spec.name, weights::Tensor{weights::DType::kF32, spec.shape,
                                              weights::contiguous_strides(spec.shape),
                                              reinterpret_cast<const std::byte*>(storage->data())});
    checkpoint.keep(storage);
  }
  return checkpoint;
}

}  // namespace vit::test
