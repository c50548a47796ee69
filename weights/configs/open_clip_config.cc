#include <algorithm>
#include <utility>

#include "vit/base/error.h"
#include "weights/configs/config_files.h"
#include "weights/configs/text_configs.h"
#include "weights/known/architectures.h"
#include "weights/known/timm_arguments.h"

namespace vit::weights {
namespace {

constexpr size_t kUsualHeadWidth = 64;

/// A tower that OpenCLIP takes from timm.
ModelConfig timm_tower(const Fields& vision, const std::string& name, const ModelConfig& inferred) {
  if (vision.text("timm_proj") == "mlp") vision.refuse("timm_proj", "linear, none or null");
  Arguments arguments{{"num_classes", std::to_string(inferred.head.classes)}};
  if (const auto size = vision.size("image_size")) arguments["img_size"] = std::to_string(*size);
  const std::string pool = vision.text("timm_pool").value_or("avg");
  if (!pool.empty()) arguments["global_pool"] = pool == "tok" ? "token" : pool;
  if (vision.object("timm_model_kwargs"))
    for (const auto& [argument, value] : vision.find("timm_model_kwargs")->items())
      arguments[argument] = as_argument(value);
  ModelConfig config = config_of(name, arguments, vision.where());
  config.head.head_bias = inferred.head.head_bias;
  // Beside a projection of its own OpenCLIP changes the pooling of a finished tower, and timm then
  // leaves the norm where it was: the tensors say where.
  if (inferred.head.final_norm != inferred.head.pooled_norm) {
    config.head.final_norm = inferred.head.final_norm;
    config.head.pooled_norm = inferred.head.pooled_norm;
  }
  return config;
}

/// OpenCLIP's own tower: what its tensors say, and what they do not.
ModelConfig own_tower(const Fields& model, const Fields& vision, const ModelConfig& inferred) {
  for (const auto unknown : {"attentional_pool", "final_ln_after_pool"})
    if (vision.flag(unknown).value_or(false)) vision.refuse(unknown, "false");
  ModelConfig c = inferred;
  c.architecture = "OpenCLIP";
  const size_t head_width = vision.size("head_width").value_or(kUsualHeadWidth);
  if (head_width == 0) vision.refuse("head_width", "a positive number");
  c.encoder.heads = c.encoder.key_value_heads = c.encoder.width / head_width;
  c.encoder.activation = open_clip_activation(model, vision);
  c.encoder.norm_eps = open_clip_norm_eps(vision);
  const std::string pool = vision.text("pool_type").value_or("tok");
  if (pool != "tok" && pool != "avg") vision.refuse("pool_type", "tok or avg");
  if (pool == "avg") c.head.pooling = Pooling::kMean;
  if (const auto size = vision.size("image_size"))
    c.embedding.image_height = c.embedding.image_width = *size;
  return c;
}

Recipe recipe_from(const Fields& file, const ModelConfig& config) {
  TimmRecipe timm;
  timm.height = config.embedding.image_height;
  timm.width = config.embedding.image_width;
  timm.crop_pct = 1.0;
  const Fields fields = file.object("preprocess_cfg").value_or(file);
  const std::string mode = fields.text("resize_mode").value_or("shortest");
  constexpr std::pair<std::string_view, const char*> kModes[] = {
      {"shortest", "center"}, {"squash", "squash"}, {"longest", "border"}};
  const auto known = std::find_if(std::begin(kModes), std::end(kModes),
                                  [&](const auto& entry) { return entry.first == mode; });
  if (known == std::end(kModes)) fields.refuse("resize_mode", "shortest, squash or longest");
  timm.crop_mode = known->second;
  timm.interpolation = fields.text("interpolation").value_or("bicubic");
  Recipe recipe = recipe_of(timm, fields.where());
  set_statistics("clip", recipe);
  recipe.mean = fields.triple("mean").value_or(recipe.mean);
  recipe.std = fields.triple("std").value_or(recipe.std);
  return recipe;
}

}  // namespace

ModelCard read_open_clip_config(const Fields& file, const ModelConfig& inferred) {
  const auto model = file.object("model_cfg");
  const auto vision = model ? model->object("vision_cfg") : std::nullopt;
  if (!vision) fail_at(file.where(), "has no model_cfg with a vision_cfg");
  ModelCard result;
  const auto tower = vision->text("timm_model_name");
  result.config =
      tower ? timm_tower(*vision, *tower, inferred) : own_tower(*model, *vision, inferred);
  result.recipe = recipe_from(file, result.config);
  return result;
}

}  // namespace vit::weights
