#include <array>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>

#include "weights/configs/config_files.h"

namespace vit::weights {
namespace {

using nlohmann::json;

/// The first of these fields that the file has.
std::optional<std::string> first_of(const Metadata& metadata,
                                    std::initializer_list<std::string_view> names) {
  for (const auto name : names)
    if (const auto found = metadata.find(name); found != metadata.end()) return found->second;
  return {};
}

std::optional<size_t> size_of(const Metadata& metadata,
                              std::initializer_list<std::string_view> names) {
  const auto text = first_of(metadata, names);
  size_t value = 0;
  if (!text) return {};
  const auto read = std::from_chars(text->data(), text->data() + text->size(), value);
  return read.ec == std::errc() && value != 0 ? std::optional(value) : std::nullopt;
}

void set_statistics_from(const Metadata& metadata, std::string_view name,
                         std::array<float, 3>& values) {
  const auto text = first_of(metadata, {name});
  if (!text) return;
  const json list = parse_json_if_valid(*text);
  if (!list.is_array() || list.size() != 3) return;
  for (size_t i = 0; i < 3; ++i)
    if (list[i].is_number()) values[i] = list[i].get<float>();
}

/// One field for all ("id2label"), or one field per class ("0", "1", …).
std::vector<std::string> labels_in(const Metadata& metadata, size_t classes) {
  const json table = parse_json_if_valid(first_of(metadata, {"id2label"}).value_or("{}"));
  std::vector<std::string> labels;
  for (size_t i = 0; i < classes; ++i) {
    const std::string key = std::to_string(i);
    if (table.is_object() && table.contains(key) && table[key].is_string())
      labels.push_back(table[key].get<std::string>());
    else if (const auto label = first_of(metadata, {key}))
      labels.push_back(*label);
    else
      return {};
  }
  return labels;
}

}  // namespace

void apply_metadata(const Metadata& metadata, ModelCard& card) {
  ModelConfig& config = card.config;
  const auto heads = size_of(metadata, {"clip.vision.attention.head_count", "num_attention_heads"});
  if (heads) config.encoder.heads = config.encoder.key_value_heads = *heads;
  if (const auto eps = first_of(metadata, {"clip.vision.attention.layer_norm_epsilon"}))
    config.encoder.norm_eps = std::strtof(eps->c_str(), nullptr);
  if (first_of(metadata, {"clip.use_gelu"}) == "true")
    config.encoder.activation =
        config.embedding.prefix.empty() ? Activation::kGeluTanh : Activation::kGelu;
  if (first_of(metadata, {"clip.use_silu"}) == "true")
    config.encoder.activation = Activation::kSilu;
  set_statistics_from(metadata, "clip.vision.image_mean", card.recipe.mean);
  set_statistics_from(metadata, "clip.vision.image_std", card.recipe.std);
  if (card.labels.empty()) card.labels = labels_in(metadata, config.head.classes);
}

}  // namespace vit::weights
