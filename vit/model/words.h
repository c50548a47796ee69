/// Classes in words, for models with a text tower: CLIP, SigLIP and their like.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vit/text/prompts.h"

namespace vit {

/// They take the place of the model's own classes.
struct WordClasses {
  /// A label without prompts gets the usual sentence of the model's family.
  std::vector<text::WordLabel> labels;
  /// One more class, "none of these", which is the answer where no label reaches this value: the
  /// cosine between image and text, or the probability where labels are independent (SigLIP).
  std::optional<double> none_of_these{};
  std::function<void(size_t done, size_t prompts)> progress{};  ///< called by any thread
  /// A prompt is longer than the `context` tokens of the model; its end is left out.
  std::function<void(const std::string& prompt, size_t context)> truncated{};
};

inline constexpr const char* kNoneOfThese = "none of these";

}  // namespace vit
