#include "tools/output/json.h"
#include "tools/output/predictions.h"

namespace vit::tools {
Json to_json(std::span<const Prediction> predictions) {
  Json json = Json::array();
  for (const auto& p : predictions) {
    Json entry;
    entry["class"] = p.index;
    entry["label"] = p.label;
    entry["probability"] = p.probability;
    json.push_back(std::move(entry));
  }
  return json;
}

std::string json_opening(std::string_view model, const Recipe& recipe) {
  return "{\n\"model\": " + dump(model) + ",\n\"recipe\": " + dump(to_json(recipe)) +
         ",\n\"images\": [\n";
}

std::string json_image(const ImageResult& result, bool with_logits) {
  Json json;
  json["file"] = result.file;
  if (!result.error.empty()) {
    json["error"] = result.error;
    return dump(json);
  }
  if (!result.damage.empty()) json["damaged"] = result.damage;
  json["predictions"] = to_json(result.predictions);
  if (with_logits) json["logits"] = result.logits;
  return dump(json);
}

std::string json_closing() {
  return "\n]\n}\n";
}

}  // namespace vit::tools
