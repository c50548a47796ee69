/// The config files beside published weights, read into a ModelCard.
#pragma once

#include <string>

#include "weights/configs/json.h"
#include "weights/formats/tensor_file.h"
#include "weights/model_card.h"

namespace vit::weights {

/// A value as timm's arguments are written: 64, true, none, "64,96".
std::string as_argument(const nlohmann::json& value);

/// The config.json of timm on the hub: architecture, model_args, pretrained_cfg.
ModelCard read_timm_config(const Fields& file);

/// The config.json of Hugging Face transformers: model_type and its fields, on top of what the
/// tensors say.
ModelCard read_hf_config(const Fields& file, const ModelConfig& inferred);

/// open_clip_config.json: model_cfg and preprocess_cfg of OpenCLIP.
ModelCard read_open_clip_config(const Fields& file, const ModelConfig& inferred);

/// The recipe of preprocessor_config.json, in any of its dialects. What it leaves out is what the
/// image processor of this model type does by default.
Recipe read_preprocessor(const Fields& file, const std::string& model_type,
                         const ModelConfig& config);

/// "'swin' is a Swin Transformer (…), which is not supported; …" where a config.json of timm or
/// transformers names such a family, else "".
std::string unsupported_in(const Fields& file);

/// What a weight file without a config.json says about itself: heads, labels, statistics.
void apply_metadata(const Metadata& metadata, ModelCard& card);

/// The recipe of a model type without a preprocessor_config.json, for the model's own input size.
Recipe default_hf_recipe(const std::string& model_type, const ModelConfig& config);

}  // namespace vit::weights
