#include "weights/layouts/layout.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "vit/base/error.h"
#include "weights/known/unsupported.h"
#include "weights/layouts/tables.h"
#include "weights/layouts/views.h"

namespace vit::weights {
namespace {

constexpr size_t kQuotedNames = 4;

/// Where a file holds the model several times, the average of the weights comes before the weights
/// themselves, and the teacher before the student: what their authors evaluate.
int preference(std::string_view prefix) {
  if (prefix.find("ema") != std::string_view::npos) return 0;
  if (prefix.empty()) return 1;
  if (prefix.starts_with("state_dict")) return 2;
  if (prefix.starts_with("model")) return 3;
  if (prefix.starts_with("teacher")) return 4;
  if (prefix.starts_with("student")) return 6;
  return 5;
}

/// What stands before the layout's own names, in the copy of the model to read.
std::optional<std::string> find_prefix(const TensorMap& tensors, const Layout& layout) {
  std::set<std::tuple<int, size_t, std::string>> found;
  for (const auto& [name, tensor] : tensors) {
    if (!name.ends_with(layout.anchor)) continue;
    std::string prefix = name.substr(0, name.size() - layout.anchor.size());
    for (const auto inner : layout.inner_prefixes) {
      if (!prefix.ends_with(inner)) continue;
      prefix.resize(prefix.size() - inner.size());
      break;
    }
    const bool whole_word = prefix.empty() || prefix.ends_with('.') || prefix.ends_with('/');
    if (whole_word) found.emplace(preference(prefix), prefix.size(), prefix);
  }
  if (found.empty()) return {};
  return std::get<2>(*found.begin());
}

size_t square_root(size_t n) {
  auto root = static_cast<size_t>(std::sqrt(static_cast<double>(n)));
  return root * root == n ? root : 0;
}

/// Tokens and tables are [1, n, width], whether or not a layout omits axes of length 1.
void fit_tokens(WeightMap& weights) {
  for (const auto name : {"cls_token", "dist_token", "reg_token", "pos_embed", "pos_embed_y",
                          "pos_embed_x", "attn_pool.latent"}) {
    const auto found = weights.find(name);
    if (found == weights.end()) continue;
    Weight& weight = found->second;
    if (weight.shape().empty() || weight.size() == 0) continue;
    const size_t width = weight.shape().back();
    weight = weight.reshaped({1, weight.size() / width, width});
  }
}

/// transformers stores the registers of a DINOv3 without any as [1, 0, width].
void drop_empty_registers(WeightMap& weights) {
  const auto found = weights.find("reg_token");
  if (found == weights.end()) return;
  const Shape& shape = found->second.shape();
  if (shape.size() == 3 && shape[0] == 1 && shape[1] == 0) weights.erase(found);
}

/// ggml's converters give the bias of the patches four axes.
void fit_patch_bias(WeightMap& weights) {
  const auto found = weights.find("patch_embed.proj.bias");
  if (found != weights.end()) found->second = found->second.reshaped({found->second.size()});
}

/// Early files hold the patch kernel as a matrix [width, 3·P·P].
void fit_patch_kernel(WeightMap& weights) {
  const auto found = weights.find("patch_embed.proj.weight");
  if (found == weights.end() || found->second.shape().size() != 2) return;
  const size_t side = square_root(found->second.cols() / 3);
  if (side != 0 && found->second.cols() == 3 * side * side)
    found->second = found->second.reshaped({found->second.rows(), 3, side, side});
}

/// DINOv2 gives positions to the class token and the patches but not to the registers between
/// them. Rows of zeros for the registers say the same and leave one rule for all models.
void fit_register_positions(WeightMap& weights) {
  const auto registers = weights.find("reg_token");
  const auto positions = weights.find("pos_embed");
  if (registers == weights.end() || positions == weights.end() || !weights.contains("cls_token"))
    return;
  if (registers->second.shape().size() != 3) return;  // empty: fit_tokens() left it as it was
  const Shape shape = positions->second.shape();
  const size_t count = registers->second.shape()[1];
  if (shape.size() != 3 || shape[1] <= 1 || positions->second.parts().size() != 1) return;
  if (positions->second.parts().front().shape.size() == 4) return;  // NaFlex: of the patches alone
  const bool covers_class_only = square_root(shape[1] - 1) != 0;
  if (!covers_class_only || square_root(shape[1]) != 0) return;

  Tensor table = positions->second.parts().front();
  while (table.shape.size() > 2) table = selected(table, 0);
  positions->second =
      Weight({sliced(table, 0, 0, 1), zeros({count, shape[2]}), sliced(table, 0, 1, shape[1] - 1)},
             {1, shape[1] + count, shape[2]});
}

/// EVA as it was trained to fill in masked patches, before it had a classifier: timm takes the last
/// norm for the one after its mean pooling.
void fit_masked_eva(const TensorMap& tensors, const std::string& prefix, WeightMap& weights) {
  const bool eva = weights.contains("blocks.0.attn.q_bias") && !weights.contains("reg_token") &&
                   !weights.contains("blocks.0.attn.rel_pos.table") &&
                   !weights.contains("rel_pos.table");
  if (!eva || !tensors.contains(prefix + "mask_token") || weights.contains("head.weight") ||
      weights.contains("fc_norm.weight"))
    return;
  for (const std::string suffix : {"weight", "bias"}) {
    auto norm = weights.extract("norm." + suffix);
    if (norm.empty()) continue;
    norm.key() = "fc_norm." + suffix;
    weights.insert(std::move(norm));
  }
}

/// OpenCLIP's towers of timm have their projection beside the tower.
void add_open_clip_projection(const TensorMap& tensors, std::string prefix, WeightMap& weights) {
  constexpr std::string_view kTower = "trunk.";
  if (!prefix.ends_with(kTower)) return;
  prefix.resize(prefix.size() - kTower.size());
  for (const auto* name : {"weight", "bias"}) {
    const auto found = tensors.find(prefix + "head.proj." + name);
    if (found != tensors.end()) weights.emplace(std::string("head.") + name, found->second);
  }
}

size_t width_of(const Tensor& kernel, const Layout& layout) {
  if (kernel.shape.empty()) return 0;
  const bool last = layout.anchor.ends_with("kernel");  // JAX: width comes last
  return last ? kernel.shape.back() : kernel.shape.front();
}

std::vector<std::string_view> names_of(const TensorMap& tensors) {
  std::vector<std::string_view> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

[[noreturn]] void refuse(const TensorMap& tensors, const std::string& where) {
  std::string known;
  for (const auto& layout : layouts())
    if (!known.ends_with(layout.name))  // the two layouts of timm follow each other
      known += (known.empty() ? "" : ", ") + std::string(layout.name);
  std::string names;
  for (const auto& [name, tensor] : tensors) {
    if (names.size() > 200) break;
    names += (names.empty() ? "'" : ", '") + name + "'";
    if (std::count(names.begin(), names.end(), ',') + 1 >= static_cast<long>(kQuotedNames)) break;
  }
  if (tensors.empty()) fail_at(where, "holds no tensors");
  fail_at(where, "holds no Vision Transformer this toolkit knows (", known, "); its ",
          tensors.size(), " tensors begin with ", names);
}

}  // namespace

Interpretation interpret(const TensorMap& tensors, const std::string& where) {
  const std::vector<std::string_view> names = names_of(tensors);
  if (const auto* family = unsupported_tensors(names))
    fail_at(where, "holds ", description_of(*family));
  for (const auto& layout : layouts()) {
    const auto prefix = find_prefix(tensors, layout);
    if (!prefix || (layout.applies != nullptr && !layout.applies(tensors, *prefix))) continue;
    const TensorMap prepared = layout.prepare == nullptr ? tensors : layout.prepare(tensors, where);
    Renaming renaming{where, *prefix, layout.inner_prefixes, layout.rules, layout.block_rules};
    for (const auto& [name, tensor] : prepared)
      if (name.starts_with(*prefix) && name.ends_with(layout.anchor))
        renaming.width = width_of(tensor, layout);

    Interpretation result;
    result.layout = &layout;
    result.weights = rename(prepared, renaming, result.unused);
    add_open_clip_projection(prepared, *prefix, result.weights);
    drop_empty_registers(result.weights);
    fit_tokens(result.weights);
    fit_patch_bias(result.weights);
    if (layout.family == LayoutFamily::kTimm) {
      fit_patch_kernel(result.weights);
      fit_masked_eva(prepared, *prefix, result.weights);
    }
    fit_register_positions(result.weights);
    return result;
  }
  refuse(tensors, where);
}

}  // namespace vit::weights
