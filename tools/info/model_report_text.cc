#include <algorithm>
#include <map>

#include "tools/info/model_report.h"
#include "tools/output/format.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

constexpr size_t kNameWidth = 14;
constexpr size_t kShownLabels = 5;
constexpr size_t kShownUnused = 8;

std::string line(std::string_view name, const std::string& value) {
  return "  " + fit(name, kNameWidth) + "  " + printable(value) + "\n";
}

std::string size_text(size_t height, size_t width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string plural(std::uint64_t count, const std::string& word, const std::string& many) {
  return format_count(count) + " " + (count == 1 ? word : many);
}

/// The first few, and how many more.
std::string some_of(const std::vector<std::string>& words, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(most, words.size()); ++i) text += (i == 0 ? "" : ", ") + words[i];
  return words.size() > most ? text + ", …" : text;
}

/// Rotary positions and relative biases.
std::string places_text(const EncoderConfig& c) {
  std::string text;
  if (c.rotary.kind != RotaryKind::kNone)
    text += "; rotary " + std::string(to_string(c.rotary.kind)) +
            (c.rotary.stored_periods ? ", periods of the file" : "");
  if (c.relative_bias.kind != RelativeBiasKind::kNone)
    text += "; relative bias " + std::string(to_string(c.relative_bias.kind));
  return text;
}

std::string tokens_text(const ModelConfig& c) {
  std::map<PrefixToken, size_t> counts;
  for (const auto token : c.embedding.prefix) ++counts[token];
  std::string text = std::to_string(c.embedding.tokens()) + ": ";
  for (const auto& [token, count] : counts)
    text += (count == 1 ? "" : std::to_string(count) + " ") + std::string(to_string(token)) + " + ";
  text += plural(c.embedding.grid().count(), "patch", "patches") + "; positions " +
          std::string(to_string(c.embedding.positions));
  const bool learned = c.embedding.positions == PositionKind::kLearned;
  if (learned || c.embedding.positions == PositionKind::kFactorized)
    text += ", table " + size_text(c.embedding.position_grid.rows, c.embedding.position_grid.cols);
  if (learned && !c.embedding.positions_cover_prefix && !c.embedding.prefix.empty())
    text += ", patches only";
  return text + places_text(c.encoder);
}

std::string encoder_text(const ModelConfig& c) {
  std::string text =
      plural(c.encoder.depth, "block", "blocks") + " (" + std::string(to_string(c.encoder.block));
  if (c.encoder.branches > 1) text += ", " + std::to_string(c.encoder.branches) + " branches each";
  text += "), " + std::to_string(c.encoder.width) + " wide, " +
          plural(c.encoder.heads, "head", "heads") + " of " +
          std::to_string(c.encoder.head_width());
  if (c.encoder.key_value_heads != c.encoder.heads)
    text += " (" + std::to_string(c.encoder.key_value_heads) + " for keys and values)";
  if (c.encoder.attention != AttentionKind::kStandard)
    text += ", " + std::string(to_string(c.encoder.attention)) + " attention";
  return text;
}

std::string positions_rule(const EmbeddingConfig& c) {
  std::string text;
  if (c.positions == PositionKind::kLearned)
    text = "positions " + std::string(to_string(c.position_resampling));
  if (c.positions == PositionKind::kFactorized) text = "positions linear";
  return text + (c.positions_keep_aspect ? " to the larger edge, then cut" : "");
}

std::string rotary_rule(const RotaryConfig& c) {
  if (c.kind == RotaryKind::kNone) return {};
  if (c.kind == RotaryKind::kNormalized) return "rotary coordinates from -1 to 1 on every grid";
  if (c.reference.count() == 0) return "rotary by plain indices";
  return "rotary indices scaled to " + size_text(c.reference.rows, c.reference.cols) + " patches";
}

std::string relative_rule(const RelativeBiasConfig& c) {
  if (c.kind == RelativeBiasKind::kNone) return {};
  if (c.kind != RelativeBiasKind::kTable) return "relative bias computed for the new offsets";
  return "relative bias " + std::string(to_string(c.resampling));
}

/// Whose rule this is, if the references of a family disagree.
std::string reference_text(const ModelConfig& c) {
  const RelativeBiasConfig& bias = c.encoder.relative_bias;
  if (bias.kind == RelativeBiasKind::kTable) {
    if (bias.resampling == RelativeResampling::kGeometricCubic) return ", as its authors' code";
    return bias.resampling == RelativeResampling::kBilinear ? ", as transformers" : ", as timm";
  }
  if (c.embedding.positions != PositionKind::kLearned) return {};
  if (c.head.class_layers != 0) return ", where timm has no rule";  // CaiT
  switch (c.embedding.position_resampling) {
    case PositionResampling::kBicubicAntialias:
      return ", as timm";
    case PositionResampling::kBilinearAntialias:
      return ", as transformers";
    default:
      return c.encoder.rotary.kind == RotaryKind::kNone ? "" : ", as its authors' code";
  }
}

/// What happens at another input size.
std::string other_sizes_text(const ModelConfig& c) {
  std::string text;
  for (const std::string& rule : {positions_rule(c.embedding), rotary_rule(c.encoder.rotary),
                                  relative_rule(c.encoder.relative_bias)})
    if (!rule.empty()) text += (text.empty() ? "" : "; ") + rule;
  return text.empty() ? text : text + reference_text(c);
}

std::string mlp_text(const ModelConfig& c) {
  return std::to_string(c.encoder.mlp_width) + " wide, " +
         std::string(to_string(c.encoder.activation)) + (c.encoder.gated_mlp ? ", gated" : "");
}

std::string norms_text(const ModelConfig& c) {
  std::string text = std::string(to_string(c.encoder.norm)) + ", eps " +
                     formatted("%g", static_cast<double>(c.encoder.norm_eps));
  const std::pair<bool, const char*> more[] = {
      {c.embedding.patch_norm, "on patches"},
      {c.embedding.norm_before_blocks, "before the blocks"},
      {c.encoder.qk_norm, "on queries and keys"},
      {c.encoder.attention_norm, "inside the attention"},
      {c.encoder.mlp_norm, "inside the MLP"},
      {c.head.final_norm, "after the blocks"},
      {c.head.pooled_norm, "after the pooling"}};
  for (const auto& [has, where] : more)
    if (has) text += std::string("; ") + where;
  return text + (c.encoder.layer_scale ? "; layer scale" : "");
}

std::string head_text(const ModelConfig& c) {
  std::string text = std::string(to_string(c.head.pooling)) + " pooling";
  if (c.head.pool_heads != 0) text += " with " + plural(c.head.pool_heads, "head", "heads");
  if (c.encoder.rotary.kind == RotaryKind::kNormalized)  // DINOv3
    text += c.head.pooling == Pooling::kMean ? " (as timm)" : " (as its authors and transformers)";
  if (c.head.class_layers != 0)
    text += " after " + plural(c.head.class_layers, "class layer", "class layers");
  if (c.head.pooled_layers > 1)
    text += ", classifier reads the last " + std::to_string(c.head.pooled_layers) + " layers";
  if (c.head.pre_logits != 0)
    text += (c.head.pre_logits_tanh ? ", tanh layer of " : ", projection to ") +
            std::to_string(c.head.pre_logits);
  if (c.head.unit_features) text += ", scaled to length 1";
  if (c.head.classes == 0)
    return text + ", no classifier: " + std::to_string(c.outputs()) + " features";
  text += ", " + plural(c.head.classes, "class", "classes");
  if (c.head.distilled_head) text += ", mean of two classifiers (distilled)";
  return text + (c.head.multi_label ? ", each scored on its own" : "");
}

std::string tensor_table(const std::vector<TensorRow>& tensors) {
  size_t name_width = 0, shape_width = 0;
  for (const auto& tensor : tensors) {
    name_width = std::max(name_width, display_width(printable(tensor.name)));
    shape_width = std::max(shape_width, tensor.shape.size());
  }
  std::string text;
  for (const auto& tensor : tensors)
    text += "  " + fit(printable(tensor.name), name_width) + "  " + fit(tensor.shape, shape_width) +
            "  " + tensor.dtype + "\n";
  return text;
}

}  // namespace

std::string to_text(const ModelReport& r, bool with_tensors) {
  const ModelConfig& c = r.config;
  std::string text = printable(r.model) + "\n";
  if (!c.architecture.empty()) text += line("architecture", c.architecture);
  text += line("weights", r.format + ", " + r.layout + " names, " + joined(r.dtypes, " and ") +
                              ", " + format_bytes(r.file_bytes));
  text += line("input", size_text(c.embedding.image_height, c.embedding.image_width) +
                            " pixels, patches of " +
                            size_text(c.embedding.patch_height, c.embedding.patch_width) +
                            (c.embedding.conv_stem ? " after convolutions" : "") + ", grid " +
                            size_text(c.embedding.grid().rows, c.embedding.grid().cols));
  text += line("tokens", tokens_text(c));
  if (const std::string rule = other_sizes_text(c); !rule.empty())
    text += line("other sizes", rule);
  text += line("encoder", encoder_text(c));
  text += line("MLP", mlp_text(c));
  text += line("norms", norms_text(c));
  text += line("head", head_text(c));
  text += line("recipe", describe(r.recipe));
  if (!r.labels.empty())
    text += line("labels", format_count(r.labels.size()) + ": " + some_of(r.labels, kShownLabels));
  else if (c.head.classes != 0)
    text += line("labels", "none");
  text += line("parameters", format_count(r.parameters));
  text += line("work", formatted("%.3g", static_cast<double>(r.multiply_adds) / 1e9) +
                           " GMACs per image (multiply-adds of all matrix products)");
  text += line("memory", format_bytes(r.weight_bytes) + " for the weights, " +
                             format_bytes(r.activation_bytes) + " for each image in progress");
  for (const auto& assumption : r.assumptions) text += line("assumed", assumption);
  if (!r.unused.empty())
    text += line("unused", plural(r.unused.size(), "tensor", "tensors") + ": " +
                               some_of(r.unused, with_tensors ? r.unused.size() : kShownUnused));
  if (with_tensors) text += "\n" + tensor_table(r.tensors);
  return text;
}

std::string label_list(const ModelReport& report) {
  std::string text;
  for (size_t i = 0; i < report.labels.size(); ++i) {
    text += std::to_string(i) + '\t';
    if (!report.wordnet_ids.empty()) text += report.wordnet_ids.at(i) + '\t';
    text += printable(report.labels[i]) + '\n';
  }
  return text;
}

}  // namespace vit::tools
