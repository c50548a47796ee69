/// The tensors of a model: the only place that knows which ones a configuration has, and their
/// shapes and roles. Checking, saving, initialising, weight decay, quantising, cost and the
/// gradient's layout read this list.
///
/// Names are spelled out again where a tensor is found or used alone: in the layouts and in infer,
/// which go from a file to a configuration, and in vit/model and vit/gradient, which give each
/// tensor its place in the forward and backward pass. A name that is none of this list finds no
/// tensor there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/text_config.h"
#include "weights/layouts/rules.h"

namespace vit::weights {

enum class TensorRole {
  kKernel,  ///< of a matrix product, outputs first
  kBias,
  kNormGain,
  kNormBias,
  kToken,        ///< a learned token or query
  kPositions,    ///< one row per position
  kLayerScale,   ///< factors on what a sublayer adds
  kLambda,       ///< of differential attention
  kTable,        ///< small and exact: relative position bias or its MLP, mixing of heads, a stem
  kFrequencies,  ///< of rotary positions, or their periods
};

/// kPooling: all between the blocks and the classifier, CaiT's class layers among it.
enum class TensorPart { kEmbedding, kBlock, kPooling, kClassifier };

/// The rows that the product with a kernel has for one image.
enum class KernelInput { kPatches, kTokens, kPooledTokens, kClassAndTokens, kOneRow };

struct TensorSpec {
  std::string name;
  Shape shape;
  TensorRole role = TensorRole::kKernel;
  TensorPart part = TensorPart::kEmbedding;
  std::optional<size_t> layer{};             ///< of a block's tensor
  KernelInput input = KernelInput::kOneRow;  ///< of a kernel
  size_t stacked = 1;                        ///< matrices of equal size below each other: q, k, v
  std::string attention{};                   ///< of its tensors: its name, "blocks.3.attn"
  bool optional = false;                     ///< a model of this configuration may lack it
  std::string lambdas{};  ///< of the first of a layer's lambdas: what all their names begin with

  /// As a matrix: tokens and tables are stored as [1, rows, D], all others have their rows first.
  size_t rows() const;
  size_t size() const;
};

using UseTensor = std::function<void(const TensorSpec&)>;

/// Every tensor that a model of this configuration has, in the order of the forward pass. Makes no
/// list: a hostile configuration may name thousands of layers that its file does not hold.
void for_each_tensor(const ModelConfig& config, const UseTensor& use);

/// The blocks alone, called `prefix` + "blocks.0…": every tower is made of them.
void for_each_block_tensor(const EncoderConfig& config, const std::string& prefix,
                           const UseTensor& use);

/// Every tensor of a text tower: token table, positions, blocks, norm, projection.
void for_each_tensor(const TextConfig& config, const UseTensor& use);

std::vector<TensorSpec> tensors_of(const ModelConfig& config);

/// Throws an Error naming the first tensor that is missing or has another shape.
void check_tensors(const ModelConfig& config, const WeightMap& weights, const std::string& where);
void check_tensors(const TextConfig& config, const WeightMap& weights, const std::string& where);

}  // namespace vit::weights
