/// The rarer formats, and writing pictures: a module of its own, loaded when it is first needed.
/// OpenCV's codecs stand on some 140 shared libraries, and loading those takes a tenth of a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "patch/image.h"
#include "patch/image_header.h"

namespace vit::patch {

/// Either an image, blue first and as large as its decoder made it, or what is wrong.
struct DecodedImage {
  Image image;
  std::string problem{};
  bool out_of_memory = false;
};

/// What the module offers under the name kCodecsSymbol. No exception leaves it.
struct Codecs {
  DecodedImage (*decode)(std::span<const std::byte> bytes, const ImageHeader& header);
  /// `ending` names the format: ".png", ".jpg". Empty if that is not possible.
  std::vector<std::uint8_t> (*encode)(const Image& image, const std::string& ending);
};
inline constexpr const char* kCodecsSymbol = "vit_codecs";

/// Loads the module on the first call, from any thread. Throws an Error that names the file if it
/// is not there.
const Codecs& codecs();

}  // namespace vit::patch
