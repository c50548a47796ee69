#include <cstdint>
#include <nlohmann/json.hpp>

#include "tools/output/predictions.h"

namespace vit::tools {
namespace {

/// Keys in the order written; float, so that 0.1f is written 0.1 and not 0.10000000149011612.
using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool,
                                  std::int64_t, std::uint64_t, float>;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const Recipe& recipe) {
  Json json;
  json["resize"] = to_string(recipe.resize);
  json["resize_height"] = recipe.resize_height;
  json["resize_width"] = recipe.resize_width;
  json["interpolation"] = to_string(recipe.interpolation);
  json["crop_height"] = recipe.crop_height;
  json["crop_width"] = recipe.crop_width;
  json["mean"] = recipe.mean;
  json["std"] = recipe.std;
  return json;
}

}  // namespace

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
  json["predictions"] = Json::array();
  for (const auto& p : result.predictions) {
    Json entry;
    entry["class"] = p.index;
    entry["label"] = p.label;
    entry["probability"] = p.probability;
    json["predictions"].push_back(std::move(entry));
  }
  if (with_logits) json["logits"] = result.logits;
  return dump(json);
}

std::string json_closing() {
  return "\n]\n}\n";
}

}  // namespace vit::tools
