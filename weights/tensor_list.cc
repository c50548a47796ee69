#include "weights/tensor_list.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "vit/base/error.h"

namespace vit::weights {
namespace {

constexpr const char* kLambdaVectors[] = {"q1", "k1", "q2", "k2"};
constexpr const char* kLambdaNumbers[] = {"a", "b"};

/// Hands over one tensor after the other. What tensors of one part have in common is in `common`.
class Lister {
 public:
  Lister(const EncoderConfig& encoder, const UseTensor& use) : e(encoder), use_(use) {}

  const EncoderConfig& e;
  TensorSpec common{};

  void add(std::string name, Shape shape, TensorRole role, bool optional = false) const {
    TensorSpec spec = common;
    spec.name = std::move(name);
    spec.shape = std::move(shape);
    spec.role = role;
    spec.optional = optional;
    use_(spec);
  }
  void kernel(const std::string& name, Shape shape, size_t stacked = 1) const {
    TensorSpec spec = common;
    spec.name = name + ".weight";
    spec.shape = std::move(shape);
    spec.stacked = stacked;
    use_(spec);
  }
  void bias(const std::string& name, size_t outputs, bool optional = false) const {
    add(name + ".bias", {outputs}, TensorRole::kBias, optional);
  }
  void linear(const std::string& name, size_t outputs, size_t inputs, bool has_bias) const {
    kernel(name, {outputs, inputs});
    if (has_bias) bias(name, outputs);
  }
  void norm(const std::string& name, size_t width) const {
    add(name + ".weight", {width}, TensorRole::kNormGain);
    if (e.norm == NormKind::kLayerNorm) add(name + ".bias", {width}, TensorRole::kNormBias);
  }

 private:
  const UseTensor& use_;
};

/// Two convolutions whose kernels do not overlap, each with the statistics of a batch norm: of 4x4
/// pixels, then of 2x2 of what the first makes. The projection reads 2x2 of what the second makes,
/// as many numbers as the patch has.
void list_stem(const Lister& list, const EmbeddingConfig& c) {
  const size_t channels = c.patch_size() / 4;
  const Shape kernels[] = {{channels, c.channels, 4, 4}, {channels, channels, 2, 2}};
  for (size_t i = 0; i < std::size(kernels); ++i) {
    const std::string name = "patch_embed.stem." + std::to_string(i);
    list.add(name + ".weight", kernels[i], TensorRole::kTable);
    for (const auto* part : {"weight", "bias", "mean", "variance"})
      list.add(name + ".norm." + part, {channels}, TensorRole::kTable);
  }
}

void list_embedding(const Lister& list, const EmbeddingConfig& c) {
  const size_t width = list.e.width;
  if (c.conv_stem) list_stem(list, c);
  list.kernel("patch_embed.proj", {width, c.channels, c.patch_height, c.patch_width});
  if (c.patch_bias) list.bias("patch_embed.proj", width);
  if (c.patch_norm) list.norm("patch_embed.norm", width);

  const auto add_tokens = [&](const char* name, PrefixToken kind) {
    const auto count = static_cast<size_t>(std::count(c.prefix.begin(), c.prefix.end(), kind));
    if (count != 0)
      list.add(name, {1, kind == PrefixToken::kRegister ? count : 1, width}, TensorRole::kToken);
  };
  add_tokens("cls_token", PrefixToken::kClass);
  add_tokens("dist_token", PrefixToken::kDistillation);
  add_tokens("reg_token", PrefixToken::kRegister);
  const auto add_positions = [&](const char* name, size_t rows) {
    list.add(name, {1, rows, width}, TensorRole::kPositions);
  };
  if (c.positions == PositionKind::kLearned)
    add_positions("pos_embed", c.covered_prefix() + c.position_grid.count());
  if (c.positions == PositionKind::kFactorized) {
    add_positions("pos_embed_y", c.position_grid.rows);
    add_positions("pos_embed_x", c.position_grid.cols);
  }
  if (c.norm_before_blocks) list.norm("norm_pre", width);
}

/// Numbers for pairs of patches, below `name`.
void list_relative_bias(const Lister& list, const std::string& name) {
  const RelativeBiasConfig& bias = list.e.relative_bias;
  const size_t heads = list.e.heads;
  if (bias.kind == RelativeBiasKind::kTable)
    return list.add(name + ".table", {bias.table_rows(), heads}, TensorRole::kTable);
  list.add(name + ".mlp.fc1.weight", {bias.hidden, 2}, TensorRole::kTable);
  list.bias(name + ".mlp.fc1", bias.hidden);
  list.add(name + ".mlp.fc2.weight", {heads, bias.hidden}, TensorRole::kTable);
  if (bias.kind == RelativeBiasKind::kLogMlp) list.bias(name + ".mlp.fc2", heads);
}

/// What all blocks share.
void list_shared_positions(const Lister& list) {
  const EncoderConfig& e = list.e;
  const size_t d = e.head_width();
  if (e.rotary.kind == RotaryKind::kLearned)
    list.add("rope.freqs", {2, e.depth, e.heads, d / 2}, TensorRole::kFrequencies);
  if (e.rotary.kind == RotaryKind::kNormalized && e.rotary.stored_periods)
    list.add("rope.periods", {d / 4}, TensorRole::kFrequencies);
  if (e.relative_bias.kind != RelativeBiasKind::kNone && e.relative_bias.shared)
    list_relative_bias(list, "rel_pos");
}

void list_qkv_bias(const Lister& list, const std::string& name) {
  const EncoderConfig& e = list.e;
  if (e.key_bias) return list.bias(name + ".qkv", e.qkv_rows());
  list.add(name + ".q_bias", {e.heads * e.head_width()}, TensorRole::kBias);
  list.add(name + ".v_bias", {e.key_value_heads * e.head_width()}, TensorRole::kBias);
}

/// Either four vectors or two numbers, whichever the file has: check_tensors() sees to it.
void list_lambdas(Lister list, const std::string& stem, size_t width) {
  list.common.lambdas = stem;
  for (const auto* lambda : kLambdaVectors) {
    list.add(stem + lambda, {width}, TensorRole::kLambda, true);
    list.common.lambdas.clear();
  }
  for (const auto* lambda : kLambdaNumbers) list.add(stem + lambda, {}, TensorRole::kLambda, true);
}

void list_attention(Lister list, const std::string& name) {
  list.common.attention = name;
  const EncoderConfig& e = list.e;
  const bool differential = e.attention == AttentionKind::kDifferential;
  const size_t d = e.head_width(), normed = differential ? d / 2 : d;
  list.kernel(name + ".qkv", {e.qkv_rows(), e.width}, e.key_value_heads == e.heads ? 3 : 1);
  if (e.qkv_bias) list_qkv_bias(list, name);
  if (e.relative_bias.kind != RelativeBiasKind::kNone && e.relative_bias.per_block)
    list_relative_bias(list, name + ".rel_pos");
  if (e.qk_norm) {
    list.norm(name + ".q_norm", normed);
    list.norm(name + ".k_norm", normed);
  }
  if (differential) {
    list_lambdas(list, name + ".lambda_", d / 2);
    list.add(name + ".sub_norm.weight", {d}, TensorRole::kNormGain);
  }
  if (e.attention == AttentionKind::kTalkingHeads)
    for (const auto* mixing : {".proj_l", ".proj_w"}) {  // before and after the softmax
      list.add(name + mixing + ".weight", {e.heads, e.heads}, TensorRole::kTable);
      list.bias(name + mixing, e.heads);
    }
  if (e.attention_norm) list.norm(name + ".norm", e.width);
  list.linear(name + ".proj", e.width, e.heads * d, e.projection_bias);
}

void list_mlp(const Lister& list, const std::string& name) {
  const EncoderConfig& e = list.e;
  const bool parallel = e.block == BlockKind::kParallel;
  list.linear(name + ".fc1", e.mlp_rows(), e.width, e.mlp_bias || parallel);
  if (e.mlp_norm) list.norm(name + ".norm", e.mlp_width);
  list.kernel(name + ".fc2", {e.width, e.mlp_width});
  // A projection fused with the attention's has one bias for both.
  if (e.mlp_bias) list.bias(name + ".fc2", e.width, parallel);
}

void list_branch(const Lister& list, const std::string& name) {
  const EncoderConfig& e = list.e;
  const auto layer_scale = [&](const char* scale) {
    if (e.layer_scale) list.add(name + scale, {e.width}, TensorRole::kLayerScale);
  };
  const bool parallel = e.block == BlockKind::kParallel;
  list.norm(name + ".norm1", e.width);
  list_attention(list, name + ".attn");
  layer_scale(".ls1.gamma");
  if (!parallel) list.norm(name + ".norm2", e.width);
  list_mlp(list, name + ".mlp");
  if (!parallel) layer_scale(".ls2.gamma");
}

void list_attention_pool(Lister& list, const HeadConfig& head) {
  const size_t width = list.e.width;
  const size_t mlp_width = head.pool_mlp_width != 0 ? head.pool_mlp_width : list.e.mlp_width;
  list.add("attn_pool.latent", {1, 1, width}, TensorRole::kToken);
  list.linear("attn_pool.q", width, width, true);
  list.common.input = KernelInput::kPooledTokens;
  list.linear("attn_pool.kv", 2 * width, width, true);
  list.common.input = KernelInput::kOneRow;
  list.linear("attn_pool.proj", width, width, true);
  list.norm("attn_pool.norm", width);
  list.linear("attn_pool.mlp.fc1", mlp_width, width, true);
  list.linear("attn_pool.mlp.fc2", width, mlp_width, true);
}

void list_class_layer(Lister& list, const std::string& name, size_t mlp_width) {
  const size_t width = list.e.width;
  const auto layer_scale = [&](const char* scale) {
    if (list.e.layer_scale) list.add(name + scale, {width}, TensorRole::kLayerScale);
  };
  list.norm(name + ".norm1", width);
  list.linear(name + ".attn.q", width, width, list.e.qkv_bias);
  list.common.input = KernelInput::kClassAndTokens;
  list.linear(name + ".attn.kv", 2 * width, width, list.e.qkv_bias);
  list.common.input = KernelInput::kOneRow;
  list.linear(name + ".attn.proj", width, width, true);
  layer_scale(".ls1.gamma");
  list.norm(name + ".norm2", width);
  list.linear(name + ".mlp.fc1", mlp_width, width, true);
  list.linear(name + ".mlp.fc2", width, mlp_width, true);
  layer_scale(".ls2.gamma");
}

void list_class_layers(Lister& list, const HeadConfig& head) {
  if (head.class_layers == 0) return;
  list.add("cls_token", {1, 1, list.e.width}, TensorRole::kToken);
  for (size_t i = 0; i < head.class_layers; ++i)
    list_class_layer(list, "class_blocks." + std::to_string(i), head.class_mlp_width);
}

void list_head(Lister& list, const ModelConfig& c) {
  list.common = {.name = {}, .shape = {}, .part = TensorPart::kPooling};
  list_class_layers(list, c.head);
  if (c.head.final_norm) list.norm("norm", c.encoder.width);
  if (c.head.pooling == Pooling::kAttention) list_attention_pool(list, c.head);
  if (c.head.pooled_norm) list.norm("fc_norm", c.pooled_layer_width());
  if (c.head.pre_logits != 0)
    list.linear("pre_logits", c.head.pre_logits, c.pooled_width(), c.head.pre_logits_bias);
  list.common.part = TensorPart::kClassifier;
  if (c.head.classes == 0) return;
  list.linear("head", c.head.classes, c.classifier_inputs(), c.head.head_bias);
  if (c.head.distilled_head)
    list.linear("head_dist", c.head.classes, c.classifier_inputs(), c.head.head_bias);
}

/// Four vectors or two numbers, but one of them whole. All their names begin with `stem`.
void check_lambdas(const std::string& stem, const WeightMap& weights, const std::string& where) {
  const auto has = [&](const char* lambda) { return weights.contains(stem + lambda); };
  const auto need = [&](std::span<const char* const> lambdas) {
    const auto missing = std::ranges::find_if_not(lambdas, has);
    if (missing != lambdas.end()) fail_at(where, "tensor '", stem, *missing, "' is missing");
  };
  if (std::ranges::any_of(kLambdaNumbers, has))
    need(kLambdaNumbers);
  else
    need(kLambdaVectors);
}

void check_tensor(const TensorSpec& spec, const WeightMap& weights, const std::string& where) {
  if (!spec.lambdas.empty()) check_lambdas(spec.lambdas, weights, where);
  const auto found = weights.find(spec.name);
  if (found == weights.end()) {
    if (!spec.optional) fail_at(where, "tensor '", spec.name, "' is missing");
  } else if (found->second.shape() != spec.shape) {
    fail_at(where, "tensor '", spec.name, "' has shape ", to_string(found->second.shape()),
            ", expected ", to_string(spec.shape));
  }
}

}  // namespace

size_t TensorSpec::rows() const {
  const bool stored_as_one = shape.size() == 3 && shape[0] == 1;
  return stored_as_one ? shape[1] : shape.empty() ? 1 : shape[0];
}

size_t TensorSpec::size() const {
  return element_count(shape);
}

void for_each_block_tensor(const EncoderConfig& config, const std::string& prefix,
                           const UseTensor& use) {
  Lister list(config, use);
  list.common.part = TensorPart::kBlock;
  list.common.input = KernelInput::kTokens;
  for (size_t layer = 0; layer < config.depth; ++layer) {
    list.common.layer = layer;
    const std::string block = prefix + "blocks." + std::to_string(layer);
    if (config.branches == 1) list_branch(list, block);
    for (size_t i = 0; config.branches > 1 && i < config.branches; ++i)
      list_branch(list, block + ".branches." + std::to_string(i));
  }
}

void for_each_tensor(const ModelConfig& config, const UseTensor& use) {
  Lister list(config.encoder, use);
  list.common.input = KernelInput::kPatches;
  list_embedding(list, config.embedding);
  list_shared_positions(list);
  for_each_block_tensor(config.encoder, "", use);
  list_head(list, config);
}

void for_each_tensor(const TextConfig& config, const UseTensor& use) {
  Lister list(config.encoder, use);
  const size_t width = config.encoder.width;
  list.add("token_embed.weight", {config.vocabulary, width}, TensorRole::kToken);
  list.add("pos_embed", {config.context, width}, TensorRole::kPositions);
  for_each_block_tensor(config.encoder, "", use);
  list.common.part = TensorPart::kPooling;
  list.norm("norm", width);
  list.linear("proj", config.features, width, config.projection_bias);
}

std::vector<TensorSpec> tensors_of(const ModelConfig& config) {
  std::vector<TensorSpec> all;
  for_each_tensor(config, [&](const TensorSpec& spec) { all.push_back(spec); });
  return all;
}

void check_tensors(const ModelConfig& config, const WeightMap& weights, const std::string& where) {
  for_each_tensor(config, [&](const TensorSpec& spec) { check_tensor(spec, weights, where); });
}

void check_tensors(const TextConfig& config, const WeightMap& weights, const std::string& where) {
  for_each_tensor(config, [&](const TensorSpec& spec) { check_tensor(spec, weights, where); });
}

}  // namespace vit::weights
