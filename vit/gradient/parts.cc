#include "vit/gradient/parts.h"

#include <string>

namespace vit::gradient {
namespace {

/// Looks names up below its prefix.
template <typename T>
struct Scope {
  const ModelConfig& config;
  const Layout& layout;
  ModelRows<T> rows;
  std::string prefix{};

  Scope operator/(const std::string& name) const { return {config, layout, rows, path(name)}; }
  std::string path(const std::string& name) const {
    return prefix.empty() ? name : prefix + "." + name;
  }
  Parameter<T> matrix(const std::string& name) const {
    const Slot* slot = layout.find(path(name));
    if (slot == nullptr) return {};
    Parameter<T> parameter{{rows.numbers.data() + slot->offset, slot->rows, slot->cols}, {}};
    if (rows.gradients.empty()) return parameter;
    size_t offset = slot->offset;
    if (rows.low_rank != nullptr) {
      const LowRankSlot* learns = rows.low_rank->find(path(name));
      if (learns == nullptr || learns->rank != 0) return parameter;
      offset = learns->offset;
    }
    parameter.gradient = {rows.gradients.data() + offset, slot->rows, slot->cols};
    return parameter;
  }
  Parameter<T> vector(const std::string& name) const {
    const auto [value, gradient] = matrix(name);
    if (value.empty()) return {};
    const size_t size = value.rows * value.cols;
    return {{value.data, 1, size}, {gradient.data, gradient.empty() ? size_t{0} : 1, size}};
  }
  LinearPart<T> linear(const std::string& name) const {
    const Scope below = *this / name;
    LinearPart<T> part{.weight = below.matrix("weight"),
                       .bias = below.vector("bias"),
                       .operands = rows.operands,
                       .isa = rows.isa};
    if (rows.low_rank == nullptr || rows.gradients.empty()) return part;
    const LowRankSlot* slot = rows.low_rank->find(below.path("weight"));
    if (slot == nullptr || slot->rank == 0) return part;
    const auto at = [&](size_t offset, size_t matrix_rows, size_t cols) {
      return Parameter<T>{{rows.learned.data() + offset, matrix_rows, cols},
                          {rows.gradients.data() + offset, matrix_rows, cols}};
    };
    part.low_rank_a = at(slot->offset, slot->rank, slot->full.cols);
    part.low_rank_b = at(slot->b_offset(), slot->full.rows, slot->rank);
    return part;
  }
  NormPart<T> norm(const std::string& name) const {
    const Scope below = *this / name;
    return {below.vector("weight"), below.vector("bias"), config.encoder.norm,
            double{config.encoder.norm_eps}, rows.isa};
  }
};

template <typename T>
MlpPart<T> bind_mlp(const Scope<T>& w, bool gated) {
  return {.expand = w.linear("fc1"),
          .contract = {w.norm("norm"), w.linear("fc2")},
          .activation = w.config.encoder.activation,
          .gated = gated};
}

template <typename T>
RelativeBiasPart<T> bind_relative_bias(const Scope<T>& w) {
  return {
      .table = w.matrix("table"), .expand = w.linear("mlp.fc1"), .contract = w.linear("mlp.fc2")};
}

/// A part of a long row of numbers.
template <typename T>
Parameter<T> part_of(const Parameter<T>& all, size_t first, size_t count) {
  if (all.empty()) return {};
  return {{all.value.data + first, 1, count},
          {all.gradient.data == nullptr ? nullptr : all.gradient.data + first,
           all.gradient.empty() ? size_t{0} : 1, count}};
}

template <typename T>
PlacesPart<T> bind_places(const Scope<T>& root, size_t layer) {
  const ModelConfig& c = root.config;
  const size_t each = c.encoder.width / 2;
  const Parameter<T> frequencies = root.vector("rope.freqs");
  return {.rotary = c.encoder.rotary,
          .bias = c.encoder.relative_bias,
          .heads = c.encoder.heads,
          .head_width = c.encoder.head_width(),
          .prefix = c.embedding.prefix.size(),
          .grid = c.embedding.grid(),
          .first = part_of(frequencies, layer * each, each),
          .second = part_of(frequencies, (c.encoder.depth + layer) * each, each),
          .periods = root.vector("rope.periods"),
          .own = bind_relative_bias(root / ("blocks." + std::to_string(layer) + ".attn.rel_pos")),
          .shared = bind_relative_bias(root / "rel_pos")};
}

template <typename T>
BranchPart<T> bind_branch(const Scope<T>& w) {
  const Scope<T> attention = w / "attn";
  return {.norm1 = w.norm("norm1"),
          .attention = {.qkv = attention.linear("qkv"),
                        .query_bias = attention.vector("q_bias"),
                        .value_bias = attention.vector("v_bias"),
                        .places = {},
                        .query_norm = attention.norm("q_norm"),
                        .key_norm = attention.norm("k_norm"),
                        .talking = {attention.linear("proj_l"), attention.linear("proj_w")},
                        .project = {attention.norm("norm"), attention.linear("proj")},
                        .heads = w.config.encoder.heads,
                        .key_value_heads = w.config.encoder.key_value_heads},
          .scale1 = w.vector("ls1.gamma"),
          .norm2 = w.norm("norm2"),
          .mlp = bind_mlp(w / "mlp", w.config.encoder.gated_mlp),
          .scale2 = w.vector("ls2.gamma")};
}

template <typename T>
std::vector<Parameter<T>> bind_prefix(const Scope<T>& w) {
  std::vector<Parameter<T>> tokens;
  size_t registers = 0;
  for (const PrefixToken kind : w.config.embedding.prefix) {
    Parameter<T> token = w.matrix(kind == PrefixToken::kClass          ? "cls_token"
                                  : kind == PrefixToken::kDistillation ? "dist_token"
                                                                       : "reg_token");
    const size_t row = kind == PrefixToken::kRegister ? registers++ : 0;
    token.value = token.value.row_range(row, 1);
    if (!token.gradient.empty()) token.gradient = token.gradient.row_range(row, 1);
    tokens.push_back(token);
  }
  return tokens;
}

template <typename T>
ClassLayerPart<T> bind_class_layer(const Scope<T>& w) {
  return {.norm1 = w.norm("norm1"),
          .attention = {.query = w.linear("attn.q"),
                        .key_value = w.linear("attn.kv"),
                        .project = w.linear("attn.proj"),
                        .heads = w.config.encoder.heads,
                        .operands = w.rows.operands},
          .scale1 = w.vector("ls1.gamma"),
          .norm2 = w.norm("norm2"),
          .mlp = bind_mlp(w / "mlp", false),
          .scale2 = w.vector("ls2.gamma")};
}

template <typename T>
std::vector<ClassLayerPart<T>> bind_class_layers(const Scope<T>& w) {
  std::vector<ClassLayerPart<T>> layers;
  for (size_t i = 0; i < w.config.head.class_layers; ++i)
    layers.push_back(bind_class_layer(w / ("class_blocks." + std::to_string(i))));
  return layers;
}

/// Its products with one query are too small to gain by bfloat16.
template <typename T>
PoolPart<T> bind_pool(const Scope<T>& w, size_t first_pooled) {
  const ModelConfig& c = w.config;
  return {.latent = w.matrix("latent"),
          .attention = {.query = w.linear("q"),
                        .key_value = w.linear("kv"),
                        .project = w.linear("proj"),
                        .heads = c.head.pool_heads != 0 ? c.head.pool_heads : c.encoder.heads,
                        .first_key = first_pooled,
                        .operands = Operands::kF32},
          .norm = w.norm("norm"),
          .mlp = bind_mlp(w / "mlp", false)};
}

template <typename T>
HeadPart<T> bind_head(const Scope<T>& w) {
  const size_t first_pooled = w.config.head.pool_prefix ? 0 : w.config.embedding.prefix.size();
  return {.class_token = w.config.head.class_layers != 0 ? w.matrix("cls_token") : Parameter<T>{},
          .class_layers = bind_class_layers(w),
          .final_norm = w.norm("norm"),
          .pool = bind_pool(w / "attn_pool", first_pooled),
          .pooled_norm = w.norm("fc_norm"),
          .pre_logits = w.linear("pre_logits"),
          .pre_logits_tanh = w.config.head.pre_logits_tanh,
          .unit_features = w.config.head.unit_features,
          .classifier = w.linear("head"),
          .distilled = w.linear("head_dist"),
          .pooling = w.config.head.pooling,
          .layers = w.config.head.pooled_layers,
          .first_pooled = first_pooled};
}

}  // namespace

template <typename T>
ModelParts<T> bind_parts(const ModelConfig& config, const Layout& layout,
                         const ModelRows<T>& rows) {
  const Scope<T> w{config, layout, rows};
  ModelParts<T> parts;
  parts.embedding = {.project = w.linear("patch_embed.proj"),
                     .norm = w.norm("patch_embed.norm"),
                     .prefix = bind_prefix(w),
                     .positions = w.matrix("pos_embed"),
                     .pre_norm = w.norm("norm_pre"),
                     .patches = config.embedding.grid().count()};
  for (size_t layer = 0; layer < config.encoder.depth; ++layer) {
    const Scope<T> block = w / ("blocks." + std::to_string(layer));
    auto& branches = parts.blocks.emplace_back();
    for (size_t i = 0; i < config.encoder.branches; ++i)
      branches.push_back(bind_branch(
          config.encoder.branches == 1 ? block : block / ("branches." + std::to_string(i))));
    if (branches.size() == 1) branches.front().attention.places = bind_places(w, layer);
  }
  parts.head = bind_head(w);
  return parts;
}

template ModelParts<float> bind_parts(const ModelConfig&, const Layout&, const ModelRows<float>&);
template ModelParts<double> bind_parts(const ModelConfig&, const Layout&, const ModelRows<double>&);

}  // namespace vit::gradient
