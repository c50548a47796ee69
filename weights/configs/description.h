/// What a config file says about a checkpoint, beyond its tensors.
#pragma once

#include <string>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/recipe.h"
#include "weights/configs/json.h"
#include "weights/formats/tensor_file.h"

namespace vit::weights {

struct Description {
  ModelConfig config;
  Recipe recipe;
  std::vector<std::string> labels;
  std::vector<std::string> assumptions;  ///< what nobody said, for people
};

/// A value as timm's arguments are written: 64, true, none, "64,96".
std::string as_argument(const nlohmann::json& value);

/// The config.json of timm on the hub: architecture, model_args, pretrained_cfg.
Description read_timm_config(const Fields& file);

/// The config.json of Hugging Face transformers: model_type and its fields, on top of what the
/// tensors say.
Description read_hf_config(const Fields& file, const ModelConfig& inferred);

/// open_clip_config.json: model_cfg and preprocess_cfg of OpenCLIP.
Description read_open_clip_config(const Fields& file, const ModelConfig& inferred);

/// The recipe of preprocessor_config.json, in any of its dialects. What it leaves out is what the
/// image processor of this model type does by default.
Recipe read_preprocessor(const Fields& file, const std::string& model_type,
                         const ModelConfig& config);

/// What a weight file without a config.json says about itself: heads, labels, statistics.
void apply_metadata(const Metadata& metadata, Description& description);

/// The recipe of a model type without a preprocessor_config.json, for the model's own input size.
Recipe default_hf_recipe(const std::string& model_type, const ModelConfig& config);

}  // namespace vit::weights
