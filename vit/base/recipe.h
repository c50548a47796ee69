/// How an image becomes the pixels that a checkpoint was trained on. Travels with the checkpoint.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "vit/base/enum_names.h"

namespace vit {

using std::size_t;

enum class Interpolation { kNearest, kBox, kBilinear, kBicubic, kLanczos };
constexpr auto enum_names(Interpolation) {
  using enum Interpolation;
  return std::to_array<EnumName<Interpolation>>({{kNearest, "nearest"},
                                                 {kBox, "box"},
                                                 {kBilinear, "bilinear"},
                                                 {kBicubic, "bicubic"},
                                                 {kLanczos, "lanczos"}});
}

enum class ResizeMode {
  kShortEdge,  ///< keep the aspect ratio, short edge to `resize`
  kSquash,     ///< each edge to its own size, the aspect ratio is lost
  kBorder,     ///< keep the aspect ratio, long edge to `resize`, pad with the mean colour
  kNone,       ///< as it is
};
constexpr auto enum_names(ResizeMode) {
  using enum ResizeMode;
  return std::to_array<EnumName<ResizeMode>>(
      {{kShortEdge, "short edge"}, {kSquash, "squash"}, {kBorder, "border"}, {kNone, "none"}});
}

struct Recipe {
  ResizeMode resize = ResizeMode::kShortEdge;
  /// Where the resize aims: short edge and border modes use the pair as timm does for non-square
  /// targets (the scale that fits the one or the other), squash uses both as they are.
  size_t resize_height = 248;
  size_t resize_width = 248;
  Interpolation interpolation = Interpolation::kBicubic;
  /// Resized pixels stay fractions; false: they are rounded to bytes, as Pillow does.
  bool float_resize = false;
  /// The centre crop, which is the model's input size; padded with zeros where the image is
  /// smaller.
  size_t crop_height = 224;
  size_t crop_width = 224;
  /// An offset of the crop that ends in a half is rounded down, as transformers does; false: to the
  /// even neighbour, as torchvision does.
  bool crop_rounds_down = false;
  /// timm's crop_pct: the part of the resized edge that the crop keeps. Only scaled_to() reads it,
  /// because the rounded sizes alone do not give it back; 0: take the ratio of the sizes.
  double crop_fraction = 0.0;
  /// (pixel / 255 - mean) / std, per channel.
  std::array<float, 3> mean{0.5f, 0.5f, 0.5f};
  std::array<float, 3> std{0.5f, 0.5f, 0.5f};

  bool operator==(const Recipe&) const = default;
};

/// Throws an Error naming the first field that no image can be prepared with. `where` opens the
/// message.
void validate(const Recipe& recipe, std::string_view where);

/// One line for people: "short edge to 248 (bicubic), centre crop 224x224, mean … std …".
std::string describe(const Recipe& recipe);

/// The same recipe aimed at another input size: the ratio of resize to crop is kept, rounded down
/// as timm does.
Recipe scaled_to(const Recipe& recipe, size_t height, size_t width);

}  // namespace vit
