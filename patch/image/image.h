/// Image files to RGB8.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vit::patch {

using std::size_t;

class PixelBudget;

/// Rows of RGB triples, no padding.
struct Image {
  size_t width = 0;
  size_t height = 0;
  std::vector<std::uint8_t> pixels;
  std::string damage{};                 ///< which part of the file was damaged; empty: none known
  std::shared_ptr<const void> lease{};  ///< its share of a PixelBudget, given back with the image

  const std::uint8_t* row(size_t y) const { return pixels.data() + y * width * 3; }
  std::uint8_t* row(size_t y) { return pixels.data() + y * width * 3; }
};

/// Whether the camera's orientation tag turns the image.
enum class Exif { kApply, kIgnore };

/// Enough for 20,000 x 20,000.
inline constexpr size_t kUsualMaxPixels = 500'000'000;

struct DecodeOptions {
  DecodeOptions(Exif orientation = Exif::kApply) : exif(orientation) {}

  Exif exif;
  size_t max_pixels = kUsualMaxPixels;      ///< a larger image is an error
  PixelBudget* budget = nullptr;            ///< shared by threads that decode; none: no waiting
  const std::atomic<bool>* stop = nullptr;  ///< ends the wait for the budget with WaitStopped
};

/// Decodes JPEG, PNG, WebP, BMP, TIFF, HEIC or AVIF of any colour type and depth, or the first
/// frame of a GIF. `name` opens the messages. A file that is damaged is an error, or an image that
/// says so in `damage` where most of it is there.
Image decode(std::span<const std::byte> bytes, std::string_view name,
             const DecodeOptions& options = {});

/// Throws an Error that says what is wrong: no such file, a folder, empty, not an image, cut short.
Image read_image(const std::filesystem::path& path, const DecodeOptions& options = {});

}  // namespace vit::patch
