/// The report of `vit info`, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/recipe.h"

namespace vit::tools {

struct TensorRow {
  std::string name;
  std::string shape;  ///< "[192, 3, 16, 16]"
  std::string dtype;
};

struct ModelReport {
  std::string model;  ///< as given
  std::string file;   ///< the weights themselves
  std::uint64_t file_bytes = 0;
  std::string format;
  std::string layout;
  std::vector<std::string> dtypes;  ///< the most frequent first
  ModelConfig config;
  Recipe recipe;
  std::vector<std::string> labels;
  std::vector<std::string> wordnet_ids;
  std::vector<std::string> assumptions;
  std::vector<std::string> unused;
  std::vector<TensorRow> tensors;
  std::uint64_t parameters = 0;
  std::uint64_t multiply_adds = 0;
  std::uint64_t weight_bytes = 0;      ///< as loaded: float32, or int8 with scales
  std::uint64_t activation_bytes = 0;  ///< of one image in progress
};

std::string to_text(const ModelReport& report, bool with_tensors);
/// A line per class, with tabs between index, WordNet id (where there are any) and label.
std::string label_list(const ModelReport& report);
std::string to_json(const ModelReport& report, bool with_tensors);

}  // namespace vit::tools
