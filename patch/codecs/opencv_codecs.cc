// The module behind patch/codecs.h. Nothing of the library is linked into it but headers.
#include <algorithm>
#include <new>
#include <opencv2/imgcodecs.hpp>

#include "patch/codecs.h"

namespace vit::patch {
namespace {

/// Of 16 bits the upper 8, as Pillow does; OpenCV would scale and round.
bool take_bytes(const cv::Mat& decoded, std::vector<std::uint8_t>& bytes) {
  if (decoded.channels() != 3 || !decoded.isContinuous()) return false;
  if (decoded.depth() == CV_8U) {
    bytes.assign(decoded.datastart, decoded.dataend);
    return true;
  }
  if (decoded.depth() != CV_16U) return false;
  bytes.resize(decoded.total() * 3);
  std::transform(decoded.ptr<std::uint16_t>(), decoded.ptr<std::uint16_t>() + bytes.size(),
                 bytes.begin(),
                 [](unsigned value) { return static_cast<std::uint8_t>(value >> 8); });
  return true;
}

// OpenCV decodes into the image's own memory where it can, so that nothing is copied.
Image decode_pixels(std::span<const std::byte> bytes, const ImageHeader& header) {
  Image image{header.width, header.height, {}};
  image.pixels.resize(header.width * header.height * 3);
  const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8UC1,
                        const_cast<std::byte*>(bytes.data()));
  cv::Mat decoded(static_cast<int>(header.height), static_cast<int>(header.width), CV_8UC3,
                  image.pixels.data());
  const int flags = cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION;
  cv::imdecode(encoded, header.deep ? flags | cv::IMREAD_ANYDEPTH : flags, &decoded);
  if (decoded.empty()) return {};
  if (decoded.data != image.pixels.data()) {  // a TIFF that is deep, or that it has turned
    image.width = static_cast<size_t>(decoded.cols);
    image.height = static_cast<size_t>(decoded.rows);
    if (!take_bytes(decoded, image.pixels)) return {};
  }
  return image;
}

DecodedImage decode_file(std::span<const std::byte> bytes, const ImageHeader& header) {
  try {
    return {.image = decode_pixels(bytes, header)};
  } catch (const cv::Exception& error) {
    return {.image = {}, .problem = error.err, .out_of_memory = error.code == cv::Error::StsNoMem};
  } catch (const std::bad_alloc&) {
    return {.image = {}, .problem = "out of memory", .out_of_memory = true};
  }
}

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
__attribute__((visibility("default"))) extern const vit::patch::Codecs vit_codecs;
const vit::patch::Codecs vit_codecs{vit::patch::decode_file, vit::patch::encode_picture};
}
