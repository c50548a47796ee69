/// How a classifier is loaded.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/error.h"
#include "vit/base/precision.h"
#include "vit/model/words.h"

namespace vit {

struct ClassifierOptions {
  size_t threads = 0;       ///< 0: all that this process may use
  size_t heads = 0;         ///< attention heads, where the checkpoint does not store their number
  size_t image_height = 0;  ///< 0: the checkpoint's own input size
  size_t image_width = 0;
  /// 0: one size for all images; else each runs at the size of its own aspect ratio that has at
  /// most so many patches (NaFlex), and not with an image size above.
  size_t max_patches = 0;
  std::optional<PositionResampling> positions{};  ///< unset: the checkpoint's, else bilinear
  float temperature = 1.0f;                       ///< of the softmax over the classes
  std::vector<HeadId> disabled_heads{};           ///< heads whose output is zero
  /// Of the blocks' linear layers; unset: int8 where the checkpoint stores them so, else float.
  std::optional<Precision> precision{};
  size_t merge_tokens = 0;           ///< tokens merged after each layer
  size_t most_tokens = kMostTokens;  ///< a model with more, at this image size, is refused
  /// Classes in words, for a model with a text tower.
  std::optional<WordClasses> words{};
};

/// The image size of the options is no multiple of the model's patch.
class UnfitImageSize : public Error {
 public:
  using Error::Error;
};

}  // namespace vit
