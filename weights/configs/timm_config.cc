#include <algorithm>
#include <utility>

#include "vit/base/error.h"
#include "weights/configs/config_files.h"
#include "weights/known/architectures.h"
#include "weights/known/labels.h"
#include "weights/known/timm_arguments.h"

namespace vit::weights {
namespace {

using nlohmann::json;

/// Older files hold the fields of pretrained_cfg at the top.
Fields recipe_fields(const Fields& file) {
  return file.object("pretrained_cfg").value_or(file);
}

Arguments arguments_of(const Fields& file, const Architecture* known) {
  Arguments arguments;
  if (const auto model_args = file.object("model_args")) {
    for (const auto& [name, value] : file.find("model_args")->items())
      arguments[name] = as_argument(value);
  }
  const Fields recipe = recipe_fields(file);
  const auto unless_said = [&](const std::string& name, std::string value) {
    if (known == nullptr || !known->arguments.contains(name))
      arguments.try_emplace(name, std::move(value));
  };
  if (const auto size = recipe.numbers("input_size"); size && size->size() == 3) {
    const json* sizes = recipe.find("input_size");
    unless_said("in_chans", as_argument((*sizes)[0]));
    unless_said("img_size", as_argument((*sizes)[1]) + "," + as_argument((*sizes)[2]));
  }
  for (const Fields& source : {file, recipe})
    if (const json* classes = source.find("num_classes"))
      arguments.try_emplace("num_classes", as_argument(*classes));
  if (const auto pool = recipe.text("global_pool")) unless_said("global_pool", *pool);
  return arguments;
}

Recipe recipe_from(const Fields& fields, const Architecture& known, const ModelConfig& config) {
  const Recipe& usual = known.recipe;
  TimmRecipe timm;
  timm.height = config.embedding.image_height;
  timm.width = config.embedding.image_width;
  constexpr std::pair<ResizeMode, std::string_view> kModes[] = {
      {ResizeMode::kShortEdge, "center"},
      {ResizeMode::kSquash, "squash"},
      {ResizeMode::kBorder, "border"},
  };
  for (const auto& [mode, name] : kModes)
    if (usual.resize == mode) timm.crop_mode = name;
  timm.crop_mode = fields.text("crop_mode").value_or(timm.crop_mode);
  timm.interpolation =
      fields.text("interpolation").value_or(std::string(to_string(usual.interpolation)));
  timm.crop_pct = fields.number("crop_pct").value_or(usual.crop_fraction);
  Recipe recipe = recipe_of(timm, fields.where());
  recipe.mean = usual.mean;
  recipe.std = usual.std;
  recipe.mean = fields.triple("mean").value_or(recipe.mean);
  recipe.std = fields.triple("std").value_or(recipe.std);
  return recipe;
}

/// Names alone may be WordNet ids; descriptions are for people.
std::vector<std::string> labels_of(const Fields& file) {
  for (const Fields& source : {file, recipe_fields(file)}) {
    const json* names = source.find("label_names");
    if (names == nullptr) names = source.find("labels");
    if (names == nullptr || !names->is_array()) continue;
    const json* descriptions = source.find("label_descriptions");
    std::vector<std::string> labels;
    for (const auto& name : *names) {
      if (!name.is_string()) source.refuse("label_names", "a list of strings");
      std::string label = name.get<std::string>();
      if (descriptions != nullptr && descriptions->is_object()) {
        const auto found = descriptions->find(label);
        if (found != descriptions->end() && found->is_string()) label = found->get<std::string>();
      } else if (const auto* known = find_imagenet1k_class(label)) {
        label = known->names.front();
      }
      labels.push_back(std::move(label));
    }
    return labels;
  }
  return {};
}

}  // namespace

std::string as_argument(const json& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && value.size() == 2)
    return as_argument(value[0]) + "," + as_argument(value[1]);
  return value.dump();
}

ModelCard read_timm_config(const Fields& file) {
  const auto name = file.text("architecture");
  if (!name) fail_at(file.where(), "names no architecture");
  const Architecture* known = find_architecture(*name);
  ModelCard result;
  result.config = config_of(*name, arguments_of(file, known), file.where());
  result.recipe = recipe_from(recipe_fields(file), *known, result.config);
  result.labels = labels_of(file);
  if (file.text("problem_type") == "multi_label_classification")
    result.config.head.multi_label = true;
  return result;
}

}  // namespace vit::weights
