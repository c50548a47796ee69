#include <sys/mman.h>
#include <webp/decode.h>

#include <new>

#include "patch/image/codecs/library_decoders.h"

namespace vit::patch {
namespace {

const char* describe(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OK:
      return "";
    case VP8_STATUS_BITSTREAM_ERROR:
      return "its data is damaged";
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "its data ends early";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it is of a kind that libwebp does not read";
    default:
      return "libwebp does not read it";
  }
}

/// Pages that do not exist before they are written.
class LazyMemory {
 public:
  explicit LazyMemory(size_t size) : size_(size) {
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<std::uint8_t*>(memory);
  }
  ~LazyMemory() { ::munmap(start_, size_); }
  LazyMemory(const LazyMemory&) = delete;
  LazyMemory& operator=(const LazyMemory&) = delete;

  std::uint8_t* data() { return start_; }

  /// Appends everything to `bytes` and gives the pages back meanwhile.
  void move_to(std::vector<std::uint8_t>& bytes) {
    constexpr size_t kPart = size_t{1} << 22;
    for (size_t at = 0; at < size_; at += kPart) {
      const size_t length = std::min(kPart, size_ - at);
      bytes.insert(bytes.end(), start_ + at, start_ + at + length);
      ::madvise(start_ + at, length, MADV_DONTNEED);
    }
  }

 private:
  std::uint8_t* start_ = nullptr;
  size_t size_;
};

VP8StatusCode decode_into(std::span<const std::byte> bytes, size_t row, size_t size,
                          std::uint8_t* pixels) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) return VP8_STATUS_INVALID_PARAM;
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {pixels, static_cast<int>(row), size};
  return WebPDecode(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), &config);
}

}  // namespace

std::string decode_webp(std::span<const std::byte> bytes, Image& image) {
  WebPBitstreamFeatures features{};
  const VP8StatusCode known =
      WebPGetFeatures(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), &features);
  if (known != VP8_STATUS_OK) return describe(known);
  if (static_cast<size_t>(features.width) != image.width ||
      static_cast<size_t>(features.height) != image.height)
    return "it has headers of two sizes";
  const size_t row = image.width * 3, size = row * image.height;
  constexpr size_t kSmall = size_t{64} << 20;  // costs little even if nothing can be decoded
  VP8StatusCode status = VP8_STATUS_OK;
  if (size <= kSmall) {
    image.pixels.resize(size);
    status = decode_into(bytes, row, size, image.pixels.data());
  } else {
    LazyMemory memory(size);
    status = decode_into(bytes, row, size, memory.data());
    if (status == VP8_STATUS_OK) memory.move_to(image.pixels);
  }
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw std::bad_alloc();
  return describe(status);
}

}  // namespace vit::patch
