// The module behind encoders(): OpenCV. Nothing of the library is linked into it but headers.
#include <exception>
#include <opencv2/imgcodecs.hpp>

#include "patch/image/codecs.h"

namespace vit::patch {
namespace {

std::vector<std::uint8_t> encode_picture(const Image& image, const std::string& ending) {
  try {
    cv::Mat blue_first(static_cast<int>(image.height), static_cast<int>(image.width), CV_8UC3);
    for (size_t i = 0; i < image.pixels.size(); ++i)
      blue_first.data[i] = image.pixels[i / 3 * 3 + 2 - i % 3];
    const std::vector<int> settings{cv::IMWRITE_JPEG_QUALITY, 92, cv::IMWRITE_PNG_COMPRESSION, 2};
    std::vector<std::uint8_t> bytes;
    cv::imencode(ending, blue_first, bytes, settings);
    return bytes;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace
}  // namespace vit::patch

extern "C" {
__attribute__((visibility("default"))) extern const vit::patch::Encoders vit_encoders;
const vit::patch::Encoders vit_encoders{vit::patch::encode_picture};
}
