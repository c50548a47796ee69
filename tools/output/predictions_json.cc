#include "tools/output/json.h"
#include "tools/output/path_text.h"
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

std::vector<Prediction> predictions_in(const Json& array) {
  std::vector<Prediction> predictions;
  if (!array.is_array()) return predictions;
  for (const Json& entry : array) {
    if (!entry.is_object()) break;
    const auto index = entry.find("class"), label = entry.find("label"),
               probability = entry.find("probability");
    if (index == entry.end() || !index->is_number_unsigned()) break;
    Prediction prediction{index->get<size_t>(), {}, 0.0f};
    if (label != entry.end() && label->is_string()) prediction.label = label->get<std::string>();
    if (probability != entry.end() && probability->is_number())
      prediction.probability = probability->get<float>();
    predictions.push_back(std::move(prediction));
  }
  return predictions;
}

std::string json_opening(std::string_view model, const Recipe& recipe, const std::string& groups) {
  return "{\n\"model\": " + dump(model) + ",\n\"recipe\": " + dump(to_json(recipe)) +
         (groups.empty() ? "" : ",\n\"groups\": " + groups) + ",\n\"images\": [\n";
}

std::string json_image(const ImageResult& result, bool with_logits) {
  Json json;
  put_path(json, "file", result.file);
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
