#include "tools/output/json.h"

namespace vit::tools {

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const Recipe& recipe) {
  Json json;
  json["resize"] = to_string(recipe.resize);
  json["resize_height"] = recipe.resize_height;
  json["resize_width"] = recipe.resize_width;
  json["interpolation"] = to_string(recipe.interpolation);
  json["float_resize"] = recipe.float_resize;
  json["crop_height"] = recipe.crop_height;
  json["crop_width"] = recipe.crop_width;
  if (recipe.crop_rounds_down) json["crop_rounds_down"] = true;
  json["mean"] = recipe.mean;
  json["std"] = recipe.std;
  return json;
}

}  // namespace vit::tools
