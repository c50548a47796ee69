/// What libtiff, libwebp, giflib and libheif decode: see Decoders in patch/codecs.h. Memory that
/// runs out is thrown.
#pragma once

#include "patch/image/pixel_decoders.h"

namespace vit::patch {

std::string decode_tiff(std::span<const std::byte> bytes, Image& image);
std::string decode_webp(std::span<const std::byte> bytes, Image& image);
/// The first frame.
std::string decode_gif(std::span<const std::byte> bytes, Image& image);
/// HEIC and AVIF. Sets the size of the image to that after turning and cutting.
std::string decode_heif(std::span<const std::byte> bytes, Image& image);

}  // namespace vit::patch
