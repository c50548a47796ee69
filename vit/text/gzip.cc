#include "vit/text/gzip.h"

#include <zlib.h>

#include <array>
#include <memory>

#include "vit/base/error.h"
#include "weights/formats/mapped_file.h"

namespace vit::text {
namespace {

constexpr size_t kLargest = 64 << 20;  // CLIP's list of merges takes 3 MB

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const auto file = weights::map_file(path);
  const auto bytes = file->bytes();
  if (bytes.size() > kLargest)
    fail_at(path.string(), bytes.size(), " bytes of text, at most ", kLargest);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string read_gzip(const std::filesystem::path& path) {
  const std::string packed = read_text(path);
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) fail_at(path.string(), "no memory to inflate it");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  std::array<char, 1 << 16> buffer{};
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
    if (text.size() > kLargest)
      fail_at(path.string(), "inflates to more than ", kLargest, " bytes");
  }
  if (state != Z_STREAM_END) fail_at(path.string(), "is not a whole gzip file");
  return text;
}

}  // namespace vit::text
