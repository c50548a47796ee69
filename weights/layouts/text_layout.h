/// The text tower's tensors of a two-tower file under the tower's own names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weights/layouts/rules.h"

namespace vit::weights {

struct TextInterpretation {
  std::string_view layout;  ///< "OpenAI CLIP", "Hugging Face CLIP"
  WeightMap
      weights;  ///< token_embed.weight, pos_embed, blocks.#, norm, proj, logit_scale, logit_bias
};

/// Whether the file has a text tower of a layout that this toolkit knows, whole or damaged.
bool has_text_tower(const TensorMap& tensors);

/// Nothing where has_text_tower() is false.
std::optional<TextInterpretation> interpret_text(const TensorMap& tensors,
                                                 const std::string& where);

}  // namespace vit::weights
