/// A tiny model of any configuration, with numbers that tell where they stand, and what a
/// checkpoint made of it must read back as.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/small_config.h"
#include "tests/weights/support.h"
#include "weights/checkpoint.h"
#include "weights/tensor_list.h"

namespace vit::weights::test {

inline ModelConfig tiny_config() {
  return vit::test::small_config({.depth = 2, .mlp_width = 40});
}

/// Every tensor that the configuration demands, under its canonical name.
inline RawMap truth_of(const ModelConfig& config) {
  RawMap truth;
  float seed = 0.0f;
  for (const auto& spec : tensors_of(config))
    if (spec.role != TensorRole::kLambda || !spec.shape.empty())  // lambdas as vectors
      truth.emplace(spec.name, numbered(spec.shape, seed += 1.0f));
  return truth;
}

using Renames = std::vector<std::pair<std::string, std::string>>;

/// Replaces, in order, every pattern in every name.
inline RawMap renamed(const RawMap& tensors, const Renames& renames) {
  RawMap result;
  for (const auto& [name, raw] : tensors) {
    std::string other = name;
    for (const auto& [from, to] : renames) other = std::regex_replace(other, std::regex(from), to);
    result.emplace(other, raw);
  }
  return result;
}

inline Raw rows_of(const Raw& raw, size_t first, size_t count) {
  const size_t cols = raw.values.size() / raw.shape[0];
  Raw result{raw.shape, {}};
  result.shape[0] = count;
  result.values.assign(raw.values.begin() + static_cast<std::ptrdiff_t>(first * cols),
                       raw.values.begin() + static_cast<std::ptrdiff_t>((first + count) * cols));
  return result;
}

inline Raw stacked(const std::vector<Raw>& parts) {
  Raw result = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    result.shape[0] += parts[i].shape[0];
    result.values.insert(result.values.end(), parts[i].values.begin(), parts[i].values.end());
  }
  return result;
}

inline Raw turned(const Raw& raw) {
  const size_t rows = raw.shape[0], cols = raw.shape[1];
  Raw result{{cols, rows}, std::vector<float>(raw.values.size())};
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < cols; ++c) result.values[c * rows + r] = raw.values[r * cols + c];
  return result;
}

inline Raw reshaped(Raw raw, Shape shape) {
  raw.shape = std::move(shape);
  return raw;
}

/// Replaces each "….qkv.…" by its thirds.
inline RawMap with_split_qkv(const RawMap& tensors, const std::string& q, const std::string& k,
                             const std::string& v) {
  RawMap result;
  for (const auto& [name, raw] : tensors) {
    const size_t at = name.find("attn.qkv.");
    if (at == std::string::npos) {
      result.emplace(name, raw);
      continue;
    }
    const size_t third = raw.shape[0] / 3;
    size_t first = 0;
    for (const auto& part : {q, k, v}) {
      result.emplace(name.substr(0, at) + part + name.substr(at + 8), rows_of(raw, first, third));
      first += third;
    }
  }
  return result;
}

/// The checkpoint has just the weights of the truth, number by number.
inline void expect_truth(const Checkpoint& checkpoint, const RawMap& truth) {
  EXPECT_EQ(checkpoint.weights().size(), truth.size());
  for (const auto& [name, raw] : truth) {
    const Weight* weight = checkpoint.find(name);
    ASSERT_NE(weight, nullptr) << name;
    ASSERT_EQ(weight->shape(), raw.shape) << name;
    std::vector<float> values(weight->size());
    weight->read_rows(0, weight->rows(), values.data());
    EXPECT_EQ(values, raw.values) << name;
  }
}

}  // namespace vit::weights::test
