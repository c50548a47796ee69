/// Turning and mirroring.
#pragma once

#include "patch/image/image.h"

namespace vit::patch {

/// The image as its camera was held: `orientation` is EXIF's, 1 (as it is) to 8.
Image oriented(const Image& image, int orientation);

}  // namespace vit::patch
