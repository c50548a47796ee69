#include <string>

#include "vit/base/error.h"
#include "weights/layouts/tables.h"
#include "weights/layouts/views.h"

namespace vit::weights {
namespace {

void expect_axes(const Tensor& tensor, size_t count) {
  if (tensor.shape.size() != count)
    fail("has shape ", to_string(tensor.shape), ", expected ", count, " axes");
}

/// Height, width, in, out → out, in, height, width.
Weight conv_kernel(const Tensor& tensor, size_t) {
  expect_axes(tensor, 4);
  return permuted(tensor, {3, 2, 0, 1});
}

/// [width, heads, d] → [heads·d, width]. The view keeps its three axes, which tell the heads.
Weight head_kernel(const Tensor& tensor, size_t) {
  expect_axes(tensor, 3);
  const Shape& s = tensor.shape;
  return Weight(permuted(tensor, {1, 2, 0})).reshaped({s[1] * s[2], s[0]});
}

/// [heads, d] → [heads·d].
Weight head_bias(const Tensor& tensor, size_t) {
  expect_axes(tensor, 2);
  return Weight(tensor).reshaped({tensor.shape[0] * tensor.shape[1]});
}

/// [heads, d, width] → [width, heads·d].
Weight out_kernel(const Tensor& tensor, size_t) {
  expect_axes(tensor, 3);
  const Shape& s = tensor.shape;
  return Weight(permuted(tensor, {2, 0, 1})).reshaped({s[2], s[0] * s[1]});
}

// Flax counts the layers of a block: 0, 1, 2, 3 in Google's ViT, each kind by itself in big_vision.
constexpr Rule kRules[] = {
    {"embedding/kernel", "patch_embed.proj.weight", conv_kernel},
    {"embedding/bias", "patch_embed.proj.bias"},
    {"cls", "cls_token"},
    {"Transformer/posembed_input/pos_embedding", "pos_embed"},
    {"pos_embedding", "pos_embed"},

    {"Transformer/encoderblock_#/LayerNorm_0/scale", "blocks.#.norm1.weight"},
    {"Transformer/encoderblock_#/LayerNorm_0/bias", "blocks.#.norm1.bias"},
    {"Transformer/encoderblock_#/MultiHeadDotProductAttention_#/query/kernel",
     "blocks.#.attn.qkv.weight", head_kernel, 0},
    {"Transformer/encoderblock_#/MultiHeadDotProductAttention_#/key/kernel",
     "blocks.#.attn.qkv.weight", head_kernel, 1},
    {"Transformer/encoderblock_#/MultiHeadDotProductAttention_#/value/kernel",
     "blocks.#.attn.qkv.weight", head_kernel, 2},
    {"Transformer/encoderblock_#/MultiHeadDotProductAttention_#/query/bias",
     "blocks.#.attn.qkv.bias", head_bias, 0},
    {"Transformer/encoderblock_#/MultiHeadDotProductAttention_#/key/bias", "blocks.#.attn.qkv.bias",
     head_bias, 1},
    {"Transformer/encoderblock_#/MultiHeadDotProductAttention_#/value/bias",
     "blocks.#.attn.qkv.bias", head_bias, 2},
    {"Transformer/encoderblock_#/MultiHeadDotProductAttention_#/out/kernel",
     "blocks.#.attn.proj.weight", out_kernel},
    {"Transformer/encoderblock_#/MultiHeadDotProductAttention_#/out/bias",
     "blocks.#.attn.proj.bias"},
    {"Transformer/encoderblock_#/LayerNorm_2/scale", "blocks.#.norm2.weight"},
    {"Transformer/encoderblock_#/LayerNorm_2/bias", "blocks.#.norm2.bias"},
    {"Transformer/encoderblock_#/LayerNorm_1/scale", "blocks.#.norm2.weight"},
    {"Transformer/encoderblock_#/LayerNorm_1/bias", "blocks.#.norm2.bias"},
    {"Transformer/encoderblock_#/MlpBlock_#/Dense_0/kernel", "blocks.#.mlp.fc1.weight", transposed},
    {"Transformer/encoderblock_#/MlpBlock_#/Dense_0/bias", "blocks.#.mlp.fc1.bias"},
    {"Transformer/encoderblock_#/MlpBlock_#/Dense_1/kernel", "blocks.#.mlp.fc2.weight", transposed},
    {"Transformer/encoderblock_#/MlpBlock_#/Dense_1/bias", "blocks.#.mlp.fc2.bias"},
    {"Transformer/encoder_norm/scale", "norm.weight"},
    {"Transformer/encoder_norm/bias", "norm.bias"},

    {"MAPHead_0/probe", "attn_pool.latent"},
    {"MAPHead_0/MultiHeadDotProductAttention_0/query/kernel", "attn_pool.q.weight", head_kernel},
    {"MAPHead_0/MultiHeadDotProductAttention_0/query/bias", "attn_pool.q.bias", head_bias},
    {"MAPHead_0/MultiHeadDotProductAttention_0/key/kernel", "attn_pool.kv.weight", head_kernel, 0},
    {"MAPHead_0/MultiHeadDotProductAttention_0/value/kernel", "attn_pool.kv.weight", head_kernel,
     1},
    {"MAPHead_0/MultiHeadDotProductAttention_0/key/bias", "attn_pool.kv.bias", head_bias, 0},
    {"MAPHead_0/MultiHeadDotProductAttention_0/value/bias", "attn_pool.kv.bias", head_bias, 1},
    {"MAPHead_0/MultiHeadDotProductAttention_0/out/kernel", "attn_pool.proj.weight", out_kernel},
    {"MAPHead_0/MultiHeadDotProductAttention_0/out/bias", "attn_pool.proj.bias"},
    {"MAPHead_0/LayerNorm_0/scale", "attn_pool.norm.weight"},
    {"MAPHead_0/LayerNorm_0/bias", "attn_pool.norm.bias"},
    {"MAPHead_0/MlpBlock_0/Dense_0/kernel", "attn_pool.mlp.fc1.weight", transposed},
    {"MAPHead_0/MlpBlock_0/Dense_0/bias", "attn_pool.mlp.fc1.bias"},
    {"MAPHead_0/MlpBlock_0/Dense_1/kernel", "attn_pool.mlp.fc2.weight", transposed},
    {"MAPHead_0/MlpBlock_0/Dense_1/bias", "attn_pool.mlp.fc2.bias"},

    {"pre_logits/kernel", "pre_logits.weight", transposed},
    {"pre_logits/bias", "pre_logits.bias"},
    {"head/kernel", "head.weight", transposed},
    {"head/bias", "head.bias"},
};

/// Blocks written by a loop over layers are one tensor with the layers as first axis.
TensorMap unrolled(const TensorMap& tensors, const std::string& where) {
  constexpr std::string_view kLoop = "encoderblock/";
  TensorMap result;
  for (const auto& [name, tensor] : tensors) {
    const size_t at = name.find(kLoop);
    if (at == std::string::npos || tensor.shape.empty()) {
      result.emplace(name, tensor);
      continue;
    }
    if (tensor.shape[0] > kMostTensors)
      fail_at(where, "array '", name, "' has ", tensor.shape[0], " layers, at most ", kMostTensors);
    const std::string before = name.substr(0, at) + "encoderblock_";
    const std::string after = name.substr(at + kLoop.size() - 1);
    for (size_t i = 0; i < tensor.shape[0]; ++i)
      result.emplace(before + std::to_string(i) + after, selected(tensor, i));
  }
  return result;
}

}  // namespace

Layout jax_layout() {
  return {.name = "JAX",
          .anchor = "embedding/kernel",
          .inner_prefixes = {},
          .rules = kRules,
          .prepare = unrolled};
}

}  // namespace vit::weights
