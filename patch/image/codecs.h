/// The rarer formats, and writing pictures: three modules, each loaded when it is first needed, so
/// that start-up does not pay for their libraries (OpenCV's codecs alone stand on some 140).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "patch/image/image.h"

namespace vit::patch {

/// What is wrong with a file, empty if nothing is.
struct DecodeProblem {
  std::string text{};
  bool out_of_memory = false;
};

/// libtiff, libwebp and giflib, under the name kDecodersSymbol; as the decoders of
/// pixel_decoders.h. A TIFF comes as it is stored, whatever its orientation. No exception leaves
/// the module.
struct Decoders {
  DecodeProblem (*tiff)(std::span<const std::byte> bytes, Image& image);
  DecodeProblem (*webp)(std::span<const std::byte> bytes, Image& image);
  DecodeProblem (*gif)(std::span<const std::byte> bytes, Image& image);
};
inline constexpr const char* kDecodersSymbol = "vit_decoders";

/// libheif, under the name kHeifDecodersSymbol. Turns and cuts the image as its file says, and sets
/// its size to that of the result.
struct HeifDecoders {
  DecodeProblem (*heif)(std::span<const std::byte> bytes, Image& image);
};
inline constexpr const char* kHeifDecodersSymbol = "vit_heif_decoders";

/// OpenCV, under the name kEncodersSymbol. No exception leaves the module.
struct Encoders {
  /// `ending` names the format: ".png", ".jpg". Empty if that is not possible.
  std::vector<std::uint8_t> (*encode)(const Image& image, const std::string& ending);
};
inline constexpr const char* kEncodersSymbol = "vit_encoders";

/// Load the module on the first call, from any thread. Throw an Error that names the file if it is
/// not there.
const Decoders& decoders();
const HeifDecoders& heif_decoders();
const Encoders& encoders();

}  // namespace vit::patch
