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

/// Nothing where the file has no text tower that this toolkit knows.
std::optional<TextInterpretation> interpret_text(const TensorMap& tensors,
                                                 const std::string& where);

}  // namespace vit::weights
