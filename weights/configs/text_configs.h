/// What config files say about a text tower, beyond its tensors.
#pragma once

#include "vit/base/text_config.h"
#include "weights/configs/json.h"

namespace vit::weights {

/// A config.json of transformers: model_type clip or siglip. `folder` holds the tokenizer's files.
void read_hf_text_config(const Fields& file, const std::filesystem::path& folder,
                         TextConfig& config);

/// open_clip_config.json: model_cfg with its text_cfg.
void read_open_clip_text_config(const Fields& file, TextConfig& config);

/// Of OpenCLIP's own towers, of images and of text: model_cfg and the part of it that is theirs.
Activation open_clip_activation(const Fields& model, const Fields& tower);
float open_clip_norm_eps(const Fields& tower);

}  // namespace vit::weights
