#include "patch/image.h"

#include <fstream>
#include <opencv2/imgcodecs.hpp>

#include "vit/base/error.h"

namespace vit::patch {

Image decode(std::span<const std::byte> bytes, std::string_view name, Exif exif) {
  const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8UC1,
                        const_cast<std::byte*>(bytes.data()));
  const int flags = cv::IMREAD_COLOR | (exif == Exif::kIgnore ? cv::IMREAD_IGNORE_ORIENTATION : 0);
  const cv::Mat decoded = cv::imdecode(encoded, flags);
  if (decoded.empty()) fail(name, ": not an image");
  Image image{static_cast<size_t>(decoded.cols), static_cast<size_t>(decoded.rows), {}};
  image.pixels.resize(image.width * image.height * 3);
  for (size_t y = 0; y < image.height; ++y) {
    const std::uint8_t* bgr = decoded.ptr(static_cast<int>(y));
    std::uint8_t* rgb = image.row(y);
    for (size_t x = 0; x < image.width; ++x, bgr += 3, rgb += 3) {
      rgb[0] = bgr[2];
      rgb[1] = bgr[1];
      rgb[2] = bgr[0];
    }
  }
  return image;
}

Image read_image(const std::filesystem::path& path, Exif exif) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path.string(), ": cannot open");
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file),
                                std::istreambuf_iterator<char>()};
  return decode(std::as_bytes(std::span(bytes)), path.string(), exif);
}

}  // namespace vit::patch
