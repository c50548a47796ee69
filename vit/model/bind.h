/// Checkpoint tensors to the parts of a model: the name, the shape and the field on one line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/precision.h"
#include "vit/encoder/block.h"
#include "vit/model/head.h"
#include "weights/checkpoint.h"

namespace vit {

/// A place in a checkpoint: names are looked up below its prefix, and shapes are demanded. Knows,
/// too, in which precision linear layers found there are to run.
class WeightScope {
 public:
  explicit WeightScope(const weights::Checkpoint& checkpoint, std::string prefix = {},
                       std::optional<Precision> precision = Precision::kF32)
      : checkpoint_(&checkpoint), prefix_(std::move(prefix)), precision_(precision) {}

  WeightScope operator/(std::string_view name) const;
  WeightScope in(std::optional<Precision> precision) const {
    return WeightScope(*checkpoint_, prefix_, precision);
  }
  /// What a weight runs in: what was asked for, else what it is stored in.
  Precision precision_of(const weights::Weight& weight) const;

  bool has(std::string_view name) const;
  size_t rows(std::string_view name) const;  ///< of a tensor that must be there
  /// Throws an Error naming the tensor and both sizes when it does not hold rows x cols numbers.
  const weights::Weight& demand(std::string_view name, size_t rows, size_t cols) const;
  /// Throws an Error naming the tensor if stored integers are not what the kernels can take.
  void check_int8(std::string_view name, std::span<const std::int8_t> row, float scale) const;
  /// Throws an Error naming this place if what differential attention subtracts is not finite.
  void check_lambda(float lambda) const;
  /// Read for good: see Checkpoint::release().
  void release(const weights::Weight& weight) const { checkpoint_->release(weight); }
  /// Weight::read_rows() of the weight called `name`. Throws an Error naming the tensor and the
  /// index of the first number that is not finite.
  void read_rows(std::string_view name, const weights::Weight& weight, size_t first, size_t count,
                 float* out) const;
  std::vector<float> vector(std::string_view name, size_t n) const;
  Matrix matrix(std::string_view name, size_t rows, size_t cols) const;
  float scalar(std::string_view name) const { return vector(name, 1).front(); }

 private:
  std::string path(std::string_view name) const;

  const weights::Checkpoint* checkpoint_;
  std::string prefix_;
  std::optional<Precision> precision_;
};

/// weight [out, in], and bias [out] if there is one.
Linear bind_linear(const WeightScope& w, size_t out, size_t in);
Norm bind_norm(const WeightScope& w, size_t width, const ModelConfig& config);
/// `layer` decides the starting lambda of differential attention.
Attention bind_attention(const WeightScope& w, const ModelConfig& config, size_t layer);
Mlp bind_mlp(const WeightScope& w, const ModelConfig& config);
Block bind_block(const WeightScope& w, const ModelConfig& config, size_t layer);
Head bind_head(const WeightScope& w, const ModelConfig& config);

}  // namespace vit
