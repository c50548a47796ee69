#include "vit/gradient/parts.h"

#include <string>

namespace vit::gradient {
namespace {

/// Looks names up below its prefix.
template <typename E>
struct Scope {
  const Layout& layout;
  E* numbers;
  std::string prefix;

  Scope operator/(const std::string& name) const { return {layout, numbers, path(name)}; }
  std::string path(const std::string& name) const {
    return prefix.empty() ? name : prefix + "." + name;
  }
  BasicMatrixView<E> matrix(const std::string& name) const {
    const Slot* slot = numbers == nullptr ? nullptr : layout.find(path(name));
    if (slot == nullptr) return {};
    return {numbers + slot->offset, slot->rows, slot->cols};
  }
  std::span<E> vector(const std::string& name) const {
    const BasicMatrixView<E> found = matrix(name);
    return {found.data, found.rows * found.cols};
  }
  LinearPart<E> linear(const std::string& name) const {
    const Scope below = *this / name;
    return {below.matrix("weight"), below.vector("bias")};
  }
  NormPart<E> norm(const std::string& name) const {
    const Scope below = *this / name;
    return {below.vector("weight"), below.vector("bias")};
  }
};

template <typename E>
MlpPart<E> bind_mlp(const Scope<E>& w) {
  return {.expand = w.linear("fc1"), .norm = w.norm("norm"), .contract = w.linear("fc2")};
}

template <typename E>
BranchPart<E> bind_branch(const Scope<E>& w) {
  const Scope<E> attention = w / "attn";
  return {.norm1 = w.norm("norm1"),
          .attention = {.qkv = attention.linear("qkv"),
                        .query_norm = attention.norm("q_norm"),
                        .key_norm = attention.norm("k_norm"),
                        .output_norm = attention.norm("norm"),
                        .project = attention.linear("proj")},
          .scale1 = w.vector("ls1.gamma"),
          .norm2 = w.norm("norm2"),
          .mlp = bind_mlp(w / "mlp"),
          .scale2 = w.vector("ls2.gamma")};
}

template <typename E>
PoolPart<E> bind_pool(const Scope<E>& w) {
  return {.latent = w.matrix("latent"),
          .query = w.linear("q"),
          .key_value = w.linear("kv"),
          .project = w.linear("proj"),
          .norm = w.norm("norm"),
          .mlp = bind_mlp(w / "mlp")};
}

}  // namespace

template <typename E>
ModelParts<E> bind_parts(const ModelConfig& config, const Layout& layout, E* numbers) {
  const Scope<E> w{layout, numbers, {}};
  ModelParts<E> parts;
  parts.embedding = {.project = w.linear("patch_embed.proj"),
                     .norm = w.norm("patch_embed.norm"),
                     .class_token = w.matrix("cls_token"),
                     .distillation_token = w.matrix("dist_token"),
                     .registers = w.matrix("reg_token"),
                     .positions = w.matrix("pos_embed"),
                     .pre_norm = w.norm("norm_pre")};
  for (size_t layer = 0; layer < config.depth; ++layer) {
    const Scope<E> block = w / ("blocks." + std::to_string(layer));
    BlockPart<E>& part = parts.blocks.emplace_back();
    for (size_t j = 0; j < config.branches; ++j)
      part.branches.push_back(
          bind_branch(config.branches == 1 ? block : block / ("branches." + std::to_string(j))));
  }
  parts.head = {.final_norm = w.norm("norm"),
                .pool = bind_pool(w / "attn_pool"),
                .pooled_norm = w.norm("fc_norm"),
                .pre_logits = w.linear("pre_logits"),
                .classifier = w.linear("head"),
                .distilled = w.linear("head_dist")};
  return parts;
}

template ModelParts<float> bind_parts(const ModelConfig&, const Layout&, float*);
template ModelParts<const float> bind_parts(const ModelConfig&, const Layout&, const float*);
template ModelParts<double> bind_parts(const ModelConfig&, const Layout&, double*);
template ModelParts<const double> bind_parts(const ModelConfig&, const Layout&, const double*);

}  // namespace vit::gradient
