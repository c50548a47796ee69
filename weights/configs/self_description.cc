#include "weights/configs/self_description.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <set>
#include <type_traits>

#include "vit/base/error.h"
#include "weights/configs/json.h"

namespace vit::weights {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "vit.format", kConfig = "vit.config", kRecipe = "vit.recipe",
                           kLabels = "vit.labels", kWordnetIds = "vit.wordnet_ids",
                           kAssumptions = "vit.assumptions";
constexpr std::array kEntries{kFormat, kConfig, kRecipe, kLabels, kWordnetIds, kAssumptions};
constexpr std::string_view kVersion = "1";

// One list of fields for writing and for reading. Fields that came later are written only where
// they differ from what earlier files mean: files of earlier versions stay readable, and earlier
// versions refuse what they cannot run.

template <typename Config, typename Visitor>
void visit_tokens(Config& c, Visitor&& visit) {
  visit("architecture", c.architecture);
  visit("image_height", c.embedding.image_height);
  visit("image_width", c.embedding.image_width);
  visit("patch_height", c.embedding.patch_height);
  visit("patch_width", c.embedding.patch_width);
  visit("channels", c.embedding.channels);
  visit("patch_bias", c.embedding.patch_bias);
  visit("patch_norm", c.embedding.patch_norm);
  visit.unless_usual("conv_stem", c.embedding.conv_stem);
  visit("prefix", c.embedding.prefix);
  visit("positions", c.embedding.positions);
  visit("positions_cover_prefix", c.embedding.positions_cover_prefix);
  visit("position_grid", c.embedding.position_grid);
  visit("position_resampling", c.embedding.position_resampling);
  visit.unless_usual("positions_keep_aspect", c.embedding.positions_keep_aspect);
  visit("norm_before_blocks", c.embedding.norm_before_blocks);
}

template <typename Config, typename Visitor>
void visit_encoder(Config& c, Visitor&& visit) {
  visit("width", c.encoder.width);
  visit("depth", c.encoder.depth);
  visit("heads", c.encoder.heads);
  visit("key_value_heads", c.encoder.key_value_heads);
  visit("mlp_width", c.encoder.mlp_width);
  visit("norm", c.encoder.norm);
  visit("norm_eps", c.encoder.norm_eps);
  visit("block", c.encoder.block);
  visit("branches", c.encoder.branches);
  visit("attention", c.encoder.attention);
  visit("activation", c.encoder.activation);
  visit("gated_mlp", c.encoder.gated_mlp);
  visit("qkv_bias", c.encoder.qkv_bias);
  visit("projection_bias", c.encoder.projection_bias);
  visit("mlp_bias", c.encoder.mlp_bias);
  visit("qk_norm", c.encoder.qk_norm);
  visit("attention_norm", c.encoder.attention_norm);
  visit("mlp_norm", c.encoder.mlp_norm);
  visit("layer_scale", c.encoder.layer_scale);
  visit.unless_usual("key_bias", c.encoder.key_bias, true);
}

template <typename Config, typename Visitor>
void visit_rotary(Config& c, Visitor&& visit) {
  auto& rotary = c.encoder.rotary;
  const RotaryConfig usual;
  visit.unless_usual("rotary", rotary.kind, usual.kind);
  visit.unless_usual("rotary_temperature", rotary.temperature, usual.temperature);
  visit.unless_usual("rotary_offset", rotary.offset, usual.offset);
  visit.unless_usual("rotary_columns_first", rotary.columns_first);
  visit.unless_usual("rotary_split_halves", rotary.split_halves);
  visit.unless_usual("rotary_reference", rotary.reference);
  visit.unless_usual("rotary_stored_periods", rotary.stored_periods);
}

template <typename Config, typename Visitor>
void visit_relative_bias(Config& c, Visitor&& visit) {
  auto& bias = c.encoder.relative_bias;
  visit.unless_usual("relative_bias", bias.kind);
  visit.unless_usual("relative_bias_per_block", bias.per_block, true);
  visit.unless_usual("relative_bias_shared", bias.shared);
  visit.unless_usual("relative_bias_hidden", bias.hidden);
  visit.unless_usual("relative_bias_class_rows", bias.class_rows);
  visit.unless_usual("relative_bias_grid", bias.grid);
  visit.unless_usual("relative_bias_resampling", bias.resampling);
}

template <typename Config, typename Visitor>
void visit_head(Config& c, Visitor&& visit) {
  visit("final_norm", c.head.final_norm);
  visit("pooled_norm", c.head.pooled_norm);
  visit("pooling", c.head.pooling);
  visit("pool_prefix", c.head.pool_prefix);
  visit("distilled_head", c.head.distilled_head);
  visit("pre_logits", c.head.pre_logits);
  visit("classes", c.head.classes);
  visit("head_bias", c.head.head_bias);
  visit("multi_label", c.head.multi_label);
  visit.unless_usual("pre_logits_tanh", c.head.pre_logits_tanh, true);
  visit.unless_usual("pre_logits_bias", c.head.pre_logits_bias, true);
  visit.unless_usual("pooled_layers", c.head.pooled_layers, size_t{1});
  visit.unless_usual("unit_features", c.head.unit_features);
  visit.unless_usual("pool_heads", c.head.pool_heads);
  visit.unless_usual("pool_mlp_width", c.head.pool_mlp_width);
  visit.unless_usual("class_layers", c.head.class_layers);
  visit.unless_usual("class_mlp_width", c.head.class_mlp_width);
}

template <typename Config, typename Visitor>
void visit_config(Config& c, Visitor&& visit) {
  visit_tokens(c, visit);
  visit_encoder(c, visit);
  visit_rotary(c, visit);
  visit_relative_bias(c, visit);
  visit_head(c, visit);
}

template <typename R, typename Visitor>
void visit_recipe(R& r, Visitor&& visit) {
  visit("resize", r.resize);
  visit("resize_height", r.resize_height);
  visit("resize_width", r.resize_width);
  visit("interpolation", r.interpolation);
  visit.unless_usual("float_resize", r.float_resize);
  visit("crop_height", r.crop_height);
  visit("crop_width", r.crop_width);
  visit.unless_usual("crop_rounds_down", r.crop_rounds_down);
  visit("crop_fraction", r.crop_fraction);
  visit("mean", r.mean);
  visit("std", r.std);
}

/// The double of the fewest digits that is this float: 1e-06, not 9.999999974752427e-07.
double in_few_digits(float value) {
  std::array<char, 32> text{};
  std::to_chars(text.data(), text.data() + text.size() - 1, value);
  const double brief = std::strtod(text.data(), nullptr);
  return static_cast<float>(brief) == value ? brief : static_cast<double>(value);
}

class Writer {
 public:
  Json object = Json::object();

  template <typename T>
  void operator()(const char* name, const T& value) {
    object[name] = to_json(value);
  }
  template <typename T>
  void unless_usual(const char* name, const T& value, const T& usual = {}) {
    if (!(value == usual)) object[name] = to_json(value);
  }

 private:
  template <typename T>
  static Json to_json(const T& value) {
    if constexpr (std::is_enum_v<T>)
      return to_string(value);
    else
      return value;
  }
  static Json to_json(float value) { return in_few_digits(value); }
  static Json to_json(const GridSize& grid) { return {grid.rows, grid.cols}; }
  static Json to_json(const std::vector<PrefixToken>& tokens) {
    Json list = Json::array();
    for (const auto token : tokens) list.push_back(to_string(token));
    return list;
  }
  static Json to_json(const std::array<float, 3>& colour) {
    return {in_few_digits(colour[0]), in_few_digits(colour[1]), in_few_digits(colour[2])};
  }
};

class Reader {
 public:
  explicit Reader(const Fields& fields) : fields_(fields) {}

  template <typename T>
  void operator()(const char* name, T& value) {
    if (!fields_.has(name)) fail_at(fields_.where(), "field '", name, "' is missing");
    seen_.insert(name);
    read(name, value);
  }
  template <typename T>
  void unless_usual(const char* name, T& value, const T& usual = {}) {
    value = usual;
    if (fields_.has(name)) operator()(name, value);
  }

  void refuse_others(const nlohmann::json& object) const {
    for (const auto& [name, value] : object.items())
      if (!seen_.contains(name)) fail_at(fields_.where(), "unknown field '", name, "'");
  }

 private:
  void read(const char* name, std::string& value) { value = *fields_.text(name); }
  void read(const char* name, size_t& value) { value = *fields_.size(name); }
  void read(const char* name, bool& value) { value = *fields_.flag(name); }
  void read(const char* name, double& value) { value = *fields_.number(name); }
  void read(const char* name, float& value) { value = static_cast<float>(*fields_.number(name)); }
  void read(const char* name, GridSize& value) {
    const nlohmann::json& list = *fields_.find(name);
    const bool pair = list.is_array() && list.size() == 2 && list[0].is_number_unsigned() &&
                      list[1].is_number_unsigned();
    if (!pair) fields_.refuse(name, "two whole numbers");
    value = {list[0].get<size_t>(), list[1].get<size_t>()};
  }
  void read(const char* name, std::array<float, 3>& value) { value = *fields_.triple(name); }
  void read(const char* name, std::vector<PrefixToken>& value) {
    const nlohmann::json& list = *fields_.find(name);
    if (!list.is_array()) fields_.refuse(name, "a list of token kinds");
    value.clear();
    for (const auto& kind : list) value.push_back(parse<PrefixToken>(name, kind));
  }
  template <NamedEnum Enum>
  void read(const char* name, Enum& value) {
    value = parse<Enum>(name, *fields_.find(name));
  }

  template <NamedEnum Enum>
  Enum parse(const char* name, const nlohmann::json& text) const {
    if (text.is_string())
      if (const auto value = enum_named<Enum>(text.get_ref<const std::string&>())) return *value;
    fields_.refuse(name, list_of_names<Enum>());
  }

  const Fields& fields_;
  std::set<std::string, std::less<>> seen_;
};

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const std::string& entry(const Metadata& metadata, std::string_view name,
                         const std::string& where) {
  const auto found = metadata.find(name);
  if (found == metadata.end()) fail_at(where, "metadata '", name, "' is missing");
  return found->second;
}

std::vector<std::string> read_list(const Metadata& metadata, std::string_view name,
                                   const std::string& where) {
  const Subject subject{where, "metadata '" + std::string(name) + "'"};
  const nlohmann::json list =
      parse_json_value(entry(metadata, name, where), subject.file + ": " + subject.name);
  if (!list.is_array()) fail_at(subject, "is not a list of strings");
  std::vector<std::string> texts;
  for (const auto& text : list) {
    if (!text.is_string()) fail_at(subject, "is not a list of strings");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

template <typename Visit>
void read_object(const Metadata& metadata, std::string_view name, const std::string& where,
                 Visit&& visit) {
  const std::string place = where + ": metadata '" + std::string(name) + "'";
  const nlohmann::json object = parse_json(entry(metadata, name, where), place);
  const Fields fields(object, place);
  Reader reader(fields);
  visit(reader);
  reader.refuse_others(object);
}

}  // namespace

Metadata self_description(const ModelCard& card) {
  Writer config, recipe;
  visit_config(card.config, config);
  visit_recipe(card.recipe, recipe);
  Metadata metadata;
  metadata.emplace(kFormat, kVersion);
  metadata.emplace(kConfig, dump(config.object));
  metadata.emplace(kRecipe, dump(recipe.object));
  metadata.emplace(kLabels, dump(card.labels));
  if (!card.wordnet_ids.empty()) metadata.emplace(kWordnetIds, dump(card.wordnet_ids));
  if (!card.assumptions.empty()) metadata.emplace(kAssumptions, dump(card.assumptions));
  return metadata;
}

bool describes_itself(const Metadata& metadata) {
  return metadata.contains(kFormat);
}

ModelCard read_self_description(const Metadata& metadata, const std::string& where) {
  const std::string& version = entry(metadata, kFormat, where);
  if (version != kVersion)
    fail_at(where, "is of format '", version, "', this toolkit reads '", kVersion,
            "'; use the version of the toolkit that wrote it, or a newer one");
  ModelCard result;
  read_object(metadata, kConfig, where, [&](Reader& r) { visit_config(result.config, r); });
  read_object(metadata, kRecipe, where, [&](Reader& r) { visit_recipe(result.recipe, r); });
  result.labels = read_list(metadata, kLabels, where);
  if (metadata.contains(kWordnetIds)) result.wordnet_ids = read_list(metadata, kWordnetIds, where);
  if (metadata.contains(kAssumptions))
    result.assumptions = read_list(metadata, kAssumptions, where);
  return result;
}

Metadata other_entries(const Metadata& metadata) {
  Metadata others = metadata;
  for (const auto name : kEntries)
    if (const auto found = others.find(name); found != others.end()) others.erase(found);
  return others;
}

}  // namespace vit::weights
