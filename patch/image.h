/// Image files to RGB8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace vit::patch {

using std::size_t;

/// Rows of RGB triples, no padding.
struct Image {
  size_t width = 0;
  size_t height = 0;
  std::vector<std::uint8_t> pixels;

  const std::uint8_t* row(size_t y) const { return pixels.data() + y * width * 3; }
  std::uint8_t* row(size_t y) { return pixels.data() + y * width * 3; }
};

/// Whether the camera's orientation tag turns the image.
enum class Exif { kApply, kIgnore };

/// Decodes JPEG, PNG, WebP, BMP or TIFF of any colour type and depth. `name` opens the messages.
Image decode(std::span<const std::byte> bytes, std::string_view name, Exif exif = Exif::kApply);

/// Throws an Error that says what is wrong: no such file, a folder, empty, not an image, cut short.
Image read_image(const std::filesystem::path& path, Exif exif = Exif::kApply);

}  // namespace vit::patch
