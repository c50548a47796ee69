/// Checkpoint tensors to the parts of a model: the name and the field on one line. Shapes were
/// checked against weights/tensor_list before, so that a part takes its sizes from its tensors.
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

/// A place in a checkpoint: names are looked up below its prefix. Also holds the precision and the
/// instruction set in which the linear layers found there run.
class WeightScope {
 public:
  WeightScope(const weights::Checkpoint& checkpoint, Isa isa, std::string prefix = {},
              std::optional<Precision> precision = Precision::kF32)
      : checkpoint_(&checkpoint), isa_(isa), prefix_(std::move(prefix)), precision_(precision) {}

  WeightScope operator/(std::string_view name) const;
  WeightScope in(std::optional<Precision> precision) const {
    return WeightScope(*checkpoint_, isa_, prefix_, precision);
  }
  Isa isa() const { return isa_; }
  /// What a weight runs in: what was asked for, else what it is stored in.
  Precision precision_of(const weights::Weight& weight) const;

  bool has(std::string_view name) const;
  /// Throws an Error naming the checkpoint and the tensor if it is missing.
  const weights::Weight& at(std::string_view name) const { return checkpoint_->at(path(name)); }
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
  std::vector<float> vector(std::string_view name) const;
  /// Rows of the last axis: [1, tokens, D] gives tokens x D.
  Matrix matrix(std::string_view name) const;
  float scalar(std::string_view name) const { return vector(name).front(); }

 private:
  std::string path(std::string_view name) const;

  const weights::Checkpoint* checkpoint_;
  Isa isa_;
  std::string prefix_;
  std::optional<Precision> precision_;
};

/// weight [out, in], and bias [out] if there is one.
Linear bind_linear(const WeightScope& w);
/// The same with this bias, or none if it is empty.
Linear bind_linear(const WeightScope& w, const std::vector<float>& bias);
Norm bind_norm(const WeightScope& w, const EncoderConfig& config);
/// Block number `layer`, which decides the starting lambda of differential attention.
Block bind_block(const WeightScope& w, const EncoderConfig& config, size_t layer);
Head bind_head(const WeightScope& w, const ModelConfig& config);

}  // namespace vit
