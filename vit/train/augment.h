/// Random changes of a training image: others in every epoch, the same ones for the same seed.
#pragma once

#include <optional>

#include "patch/image/image.h"
#include "vit/base/enum_names.h"
#include "vit/base/matrix.h"
#include "vit/base/random.h"
#include "vit/base/recipe.h"

namespace vit::train {

/// The numbers of the enumerators are part of the fingerprints of runs.
enum class CropKind {
  kNone,     ///< as the recipe places it
  kPad,      ///< shifted by up to `pad` pixels, the border mirrored: small images
  kResized,  ///< a random part of the image at the model's size: photographs
};
constexpr auto enum_names(CropKind) {
  using enum CropKind;
  return std::to_array<EnumName<CropKind>>({{kPad, "pad"}, {kResized, "resized"}, {kNone, "none"}});
}

struct Augmentation {
  CropKind crop = CropKind::kPad;
  size_t pad = 4;
  double least_area = 0.35;  ///< of a resized crop
  bool flip = true;
  std::optional<bool> mirrored{};  ///< with `flip`: decided by the caller; none: by chance
  double jitter = 0.0;             ///< brightness, contrast and saturation by up to this share
  size_t operations = 2;           ///< of the RandAugment set, 0: none
  double magnitude = 0.9;          ///< 0 to 1
  double erase = 0.25;             ///< how often a rectangle is replaced by noise
};

/// Where an image is cut and whether it is mirrored, at the size of the recipe's crop.
patch::Image draw_crop(const patch::Image& image, const Recipe& recipe, const Augmentation& how,
                       Random& random);
/// All that follows the crop, to planes [3, height·width], normalised.
void finish_crop(patch::Image crop, const Recipe& recipe, const Augmentation& how, Random& random,
                 MatrixView planes);
/// Both. `random` belongs to this image in this epoch.
void augment(const patch::Image& image, const Recipe& recipe, const Augmentation& how,
             Random& random, MatrixView planes);

}  // namespace vit::train
