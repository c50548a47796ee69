#include <string>
#include <string_view>
#include <type_traits>

#include "tools/info/model_report.h"
#include "tools/output/json.h"
#include "weights/configs/config_fields.h"

namespace vit::tools {
namespace {

/// Adds the fields of a part of a configuration. What the part's own name says is left out of their
/// names: "rotary_offset" is "offset" in "rotary".
class FieldsOf {
 public:
  FieldsOf(std::string_view part, Json& json) : part_(part), json_(json) {}

  template <typename T>
  void operator()(std::string_view name, const T& value) const {
    if (name == part_) name = "kind";
    if (!part_.empty() && name.starts_with(part_)) name.remove_prefix(part_.size() + 1);
    json_[std::string(name)] = as_json(value);
  }
  template <typename T>
  void unless_usual(std::string_view name, const T& value, const T& = {}) const {
    (*this)(name, value);
  }

 private:
  template <typename T>
  static Json as_json(const T& value) {
    if constexpr (std::is_enum_v<T>)
      return to_string(value);
    else
      return value;
  }
  static Json as_json(const GridSize& grid) { return {grid.rows, grid.cols}; }
  static Json as_json(const std::vector<PrefixToken>& tokens) {
    Json list = Json::array();
    for (const auto token : tokens) list.push_back(to_string(token));
    return list;
  }

  std::string_view part_;
  Json& json_;
};

Json input_json(const ModelConfig& c) {
  Json json;
  json["image"] = {c.embedding.image_height, c.embedding.image_width};
  json["patch"] = {c.embedding.patch_height, c.embedding.patch_width};
  json["grid"] = {c.embedding.grid().rows, c.embedding.grid().cols};
  json["tokens"] = c.embedding.tokens();
  weights::visit_tokens(c, FieldsOf("", json));
  // Said by the report and by the pairs above.
  for (const auto* name :
       {"architecture", "image_height", "image_width", "patch_height", "patch_width"})
    json.erase(name);
  return json;
}

Json encoder_json(const ModelConfig& c) {
  Json json, rotary, bias;
  weights::visit_encoder(c, FieldsOf("", json));
  if (c.encoder.rotary.kind != RotaryKind::kNone)
    weights::visit_rotary(c, FieldsOf("rotary", rotary));
  if (c.encoder.relative_bias.kind != RelativeBiasKind::kNone)
    weights::visit_relative_bias(c, FieldsOf("relative_bias", bias));
  json["rotary"] = std::move(rotary);
  json["relative_bias"] = std::move(bias);
  return json;
}

Json head_json(const ModelConfig& c) {
  Json json;
  weights::visit_head(c, FieldsOf("", json));
  json["outputs"] = c.outputs();
  json["distilled"] = c.head.distilled_head;  // its name in earlier versions
  json.erase("distilled_head");
  return json;
}

}  // namespace

std::string to_json(const ModelReport& r, bool with_tensors) {
  Json json;
  json["model"] = r.model;
  json["file"] = r.file;
  json["file_bytes"] = r.file_bytes;
  json["format"] = r.format;
  json["layout"] = r.layout;
  json["dtypes"] = r.dtypes;
  json["architecture"] = r.config.architecture;
  json["input"] = input_json(r.config);
  json["encoder"] = encoder_json(r.config);
  json["head"] = head_json(r.config);
  json["recipe"] = to_json(r.recipe);
  json["labels"] = r.labels;
  if (!r.wordnet_ids.empty()) json["wordnet_ids"] = r.wordnet_ids;
  json["parameters"] = r.parameters;
  json["multiply_adds"] = r.multiply_adds;
  json["weight_bytes"] = r.weight_bytes;
  json["activation_bytes"] = r.activation_bytes;
  json["assumptions"] = r.assumptions;
  json["unused"] = r.unused;
  if (with_tensors) {
    json["tensors"] = Json::array();
    for (const auto& tensor : r.tensors) {
      Json row;
      row["name"] = tensor.name;
      row["shape"] = Json::parse(tensor.shape);
      row["dtype"] = tensor.dtype;
      json["tensors"].push_back(std::move(row));
    }
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vit::tools
