/// The formats of nearly every image, decoded without OpenCV: see codecs.h for the others.
#pragma once

#include <cstddef>
#include <span>

#include "patch/image.h"
#include "patch/image_header.h"

namespace vit::patch {

/// RGB into image.pixels, which has the size that the header promised. False if the file is
/// damaged, of another size than that, or of a kind that the library does not know. Prints nothing.
bool decode_jpeg(std::span<const std::byte> bytes, Image& image);
bool decode_png(std::span<const std::byte> bytes, Image& image);

}  // namespace vit::patch
