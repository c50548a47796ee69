#include "weights/configs/self_description.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <set>
#include <type_traits>

#include "vit/base/error.h"
#include "weights/configs/config_fields.h"
#include "weights/configs/json.h"

namespace vit::weights {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "vit.format", kConfig = "vit.config", kRecipe = "vit.recipe",
                           kLabels = "vit.labels", kWordnetIds = "vit.wordnet_ids",
                           kAssumptions = "vit.assumptions";
constexpr std::array kEntries{kFormat, kConfig, kRecipe, kLabels, kWordnetIds, kAssumptions};
constexpr std::string_view kVersion = "1";

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
