#include "tools/info/model_report.h"
#include "tools/output/json.h"

namespace vit::tools {
namespace {

Json input_json(const ModelConfig& c) {
  Json prefix = Json::array();
  for (const auto token : c.embedding.prefix) prefix.push_back(to_string(token));
  Json json;
  json["image"] = {c.embedding.image_height, c.embedding.image_width};
  json["patch"] = {c.embedding.patch_height, c.embedding.patch_width};
  json["grid"] = {c.embedding.grid().rows, c.embedding.grid().cols};
  json["tokens"] = c.embedding.tokens();
  json["prefix"] = prefix;
  json["positions"] = to_string(c.embedding.positions);
  json["position_grid"] = {c.embedding.position_grid.rows, c.embedding.position_grid.cols};
  json["position_resampling"] = to_string(c.embedding.position_resampling);
  return json;
}

Json rotary_json(const RotaryConfig& rotary) {
  if (rotary.kind == RotaryKind::kNone) return nullptr;
  Json json;
  json["kind"] = to_string(rotary.kind);
  json["temperature"] = rotary.temperature;
  json["offset"] = rotary.offset;
  json["columns_first"] = rotary.columns_first;
  json["split_halves"] = rotary.split_halves;
  json["reference"] = {rotary.reference.rows, rotary.reference.cols};
  json["stored_periods"] = rotary.stored_periods;
  return json;
}

Json relative_bias_json(const RelativeBiasConfig& bias) {
  if (bias.kind == RelativeBiasKind::kNone) return nullptr;
  Json json;
  json["kind"] = to_string(bias.kind);
  json["per_block"] = bias.per_block;
  json["shared"] = bias.shared;
  json["hidden"] = bias.hidden;
  json["grid"] = {bias.grid.rows, bias.grid.cols};
  json["resampling"] = to_string(bias.resampling);
  return json;
}

Json encoder_json(const ModelConfig& c) {
  Json json;
  json["width"] = c.encoder.width;
  json["depth"] = c.encoder.depth;
  json["branches"] = c.encoder.branches;
  json["heads"] = c.encoder.heads;
  json["key_value_heads"] = c.encoder.key_value_heads;
  json["mlp_width"] = c.encoder.mlp_width;
  json["gated_mlp"] = c.encoder.gated_mlp;
  json["activation"] = to_string(c.encoder.activation);
  json["block"] = to_string(c.encoder.block);
  json["attention"] = to_string(c.encoder.attention);
  json["norm"] = to_string(c.encoder.norm);
  json["norm_eps"] = c.encoder.norm_eps;
  json["qk_norm"] = c.encoder.qk_norm;
  json["layer_scale"] = c.encoder.layer_scale;
  json["rotary"] = rotary_json(c.encoder.rotary);
  json["relative_bias"] = relative_bias_json(c.encoder.relative_bias);
  return json;
}

Json head_json(const ModelConfig& c) {
  Json json;
  json["pooling"] = to_string(c.head.pooling);
  json["pooled_layers"] = c.head.pooled_layers;
  json["class_layers"] = c.head.class_layers;
  json["classes"] = c.head.classes;
  json["outputs"] = c.outputs();
  json["distilled"] = c.head.distilled_head;
  json["multi_label"] = c.head.multi_label;
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
