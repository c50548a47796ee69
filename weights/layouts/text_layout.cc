#include <algorithm>

#include "vit/base/error.h"
#include "weights/layouts/tables.h"
#include "weights/layouts/text_layout.h"

namespace vit::weights {
namespace {

/// OpenAI and OpenCLIP; the latter may put "text." before the tower's own names.
constexpr Rule kOpenAiRules[] = {
    {"token_embedding.weight", "token_embed.weight"},
    {"positional_embedding", "pos_embed"},
    {"ln_final.*", "norm.*"},
    {"text_projection", "proj.weight", transposed},
    {"text_projection.weight", "proj.weight"},
    {"text_projection.bias", "proj.bias"},
    {"logit_scale", "logit_scale"},
    {"logit_bias", "logit_bias"},
};

/// CLIP and SigLIP of transformers.
constexpr Rule kHuggingFaceRules[] = {
    {"embeddings.token_embedding.weight", "token_embed.weight"},
    {"embeddings.position_embedding.weight", "pos_embed"},
    {"final_layer_norm.*", "norm.*"},
    {"text_projection.weight", "proj.weight"},
    {"head.*", "proj.*"},
    {"logit_scale", "logit_scale"},
    {"logit_bias", "logit_bias"},
};

struct TextLayout {
  std::string_view name;
  std::string_view anchor;  ///< the token table, which tells the layout
  std::vector<std::string_view> inner_prefixes;
  std::span<const Rule> rules;
  std::span<const Rule> block_rules;  ///< the image tower's
};

const TextLayout kLayouts[] = {
    {"Hugging Face CLIP",
     "text_model.embeddings.token_embedding.weight",
     {"text_model."},
     kHuggingFaceRules,
     kHuggingFaceClipBlockRules},
    {"OpenAI CLIP", "token_embedding.weight", {"text."}, kOpenAiRules, kOpenAiBlockRules},
};

/// What stands before the names of both towers: nothing, or "module." of a training run.
std::optional<std::string> root_of(const TensorMap& tensors, const TextLayout& layout) {
  for (const auto& [name, tensor] : tensors) {
    if (!name.ends_with(layout.anchor)) continue;
    std::string root = name.substr(0, name.size() - layout.anchor.size());
    for (const auto inner : layout.inner_prefixes)
      if (root.ends_with(inner)) root.resize(root.size() - inner.size());
    if (root.empty() || root.ends_with('.')) return root;
  }
  return {};
}

void fit_matrix(WeightMap& weights, const char* name) {
  const auto found = weights.find(name);
  if (found == weights.end() || found->second.shape().empty() || found->second.size() == 0) return;
  const size_t width = found->second.shape().back();
  found->second = found->second.reshaped({found->second.size() / width, width});
}

}  // namespace

bool has_text_tower(const TensorMap& tensors) {
  return std::ranges::any_of(
      kLayouts, [&](const TextLayout& layout) { return root_of(tensors, layout).has_value(); });
}

std::optional<TextInterpretation> interpret_text(const TensorMap& tensors,
                                                 const std::string& where) {
  for (const TextLayout& layout : kLayouts) {
    const auto root = root_of(tensors, layout);
    if (!root) continue;
    const Renaming renaming{where, *root, layout.inner_prefixes, layout.rules, layout.block_rules};
    std::vector<std::string> others;  // the image tower's
    TextInterpretation result{layout.name, rename(tensors, renaming, others)};
    fit_matrix(result.weights, "pos_embed");
    for (const auto* name : {"logit_scale", "logit_bias"})
      if (const auto found = result.weights.find(name); found != result.weights.end())
        found->second = found->second.reshaped({found->second.size()});
    return result;
  }
  return {};
}

}  // namespace vit::weights
