#include "tools/info/model_report.h"
#include "tools/output/json.h"

namespace vit::tools {
namespace {

Json input_json(const ModelConfig& c) {
  Json prefix = Json::array();
  for (const auto token : c.prefix) prefix.push_back(to_string(token));
  Json json;
  json["image"] = {c.image_height, c.image_width};
  json["patch"] = {c.patch_height, c.patch_width};
  json["grid"] = {c.grid().rows, c.grid().cols};
  json["tokens"] = c.tokens();
  json["prefix"] = prefix;
  json["positions"] = to_string(c.positions);
  json["position_grid"] = {c.position_grid.rows, c.position_grid.cols};
  json["position_resampling"] = to_string(c.position_resampling);
  return json;
}

Json encoder_json(const ModelConfig& c) {
  Json json;
  json["width"] = c.width;
  json["depth"] = c.depth;
  json["branches"] = c.branches;
  json["heads"] = c.heads;
  json["key_value_heads"] = c.key_value_heads;
  json["mlp_width"] = c.mlp_width;
  json["gated_mlp"] = c.gated_mlp;
  json["activation"] = to_string(c.activation);
  json["block"] = to_string(c.block);
  json["attention"] = to_string(c.attention);
  json["norm"] = to_string(c.norm);
  json["norm_eps"] = c.norm_eps;
  json["qk_norm"] = c.qk_norm;
  json["layer_scale"] = c.layer_scale;
  return json;
}

Json head_json(const ModelConfig& c) {
  Json json;
  json["pooling"] = to_string(c.pooling);
  json["classes"] = c.classes;
  json["outputs"] = c.outputs();
  json["distilled"] = c.distilled_head;
  json["multi_label"] = c.multi_label;
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
