#include <string>

#include "weights/layouts/tables.h"

namespace vit::weights {
namespace {

/// clip.cpp and llama.cpp: the image tower under `v.`.
constexpr Rule kRules[] = {
    {"v.patch_embd.*", "patch_embed.proj.*"},
    {"v.class_embd", "cls_token"},
    {"v.position_embd.weight", "pos_embed"},
    {"v.pre_ln.*", "norm_pre.*"},
    {"v.blk.#.ln1.*", "blocks.#.norm1.*"},
    {"v.blk.#.attn_qkv.*", "blocks.#.attn.qkv.*"},
    {"v.blk.#.attn_q.*", "blocks.#.attn.qkv.*", nullptr, 0},
    {"v.blk.#.attn_k.*", "blocks.#.attn.qkv.*", nullptr, 1},
    {"v.blk.#.attn_v.*", "blocks.#.attn.qkv.*", nullptr, 2},
    {"v.blk.#.attn_q_norm.*", "blocks.#.attn.q_norm.*"},
    {"v.blk.#.attn_k_norm.*", "blocks.#.attn.k_norm.*"},
    {"v.blk.#.attn_out.*", "blocks.#.attn.proj.*"},
    {"v.blk.#.ls1.weight", "blocks.#.ls1.gamma"},
    {"v.blk.#.ln2.*", "blocks.#.norm2.*"},
    {"v.blk.#.ffn_up.*", "blocks.#.mlp.fc1.*"},
    {"v.blk.#.ffn_down.*", "blocks.#.mlp.fc2.*"},
    {"v.blk.#.ls2.weight", "blocks.#.ls2.gamma"},
    {"v.post_ln.*", "norm.*"},
    {"visual_projection.weight", "head.weight"},
};

/// clip.cpp called the first layer of the MLP "down" and the second "up"; their shapes tell.
TensorMap with_named_mlp(const TensorMap& tensors, const std::string&) {
  const auto down = tensors.find("v.blk.0.ffn_down.weight");
  const bool swapped = down != tensors.end() && down->second.shape.size() == 2 &&
                       down->second.shape[0] > down->second.shape[1];
  if (!swapped) return tensors;
  TensorMap result;
  for (const auto& [name, tensor] : tensors) {
    const size_t at = name.find(".ffn_");
    std::string renamed = name;
    if (at != std::string::npos) {
      const bool is_down = name.compare(at, 9, ".ffn_down") == 0;
      renamed = name.substr(0, at) + (is_down ? ".ffn_up" : ".ffn_down") +
                name.substr(name.find('.', at + 1));
    }
    result.emplace(std::move(renamed), tensor);
  }
  return result;
}

}  // namespace

Layout gguf_clip_layout() {
  return {.name = "GGUF CLIP",
          .anchor = "v.patch_embd.weight",
          .inner_prefixes = {},
          .rules = kRules,
          .norm_eps = 1e-5f,
          .activation = Activation::kQuickGelu,
          .crop_pct = 1.0,
          .statistics = "clip",
          .prepare = with_named_mlp};
}

}  // namespace vit::weights
