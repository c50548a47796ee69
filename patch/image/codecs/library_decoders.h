/// What libtiff and libwebp decode: see Decoders in patch/codecs.h. Memory that runs out is thrown.
#pragma once

#include "patch/image/pixel_decoders.h"

namespace vit::patch {

std::string decode_tiff(std::span<const std::byte> bytes, Image& image);
std::string decode_webp(std::span<const std::byte> bytes, Image& image);

}  // namespace vit::patch
