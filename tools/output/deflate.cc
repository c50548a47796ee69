#include "tools/output/deflate.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

namespace vit::tools {

std::string deflated(std::string_view bytes, const DeflateSettings& settings) {
  constexpr int kGzipWindow = MAX_WBITS + 16;  // zlib's way to ask for gzip's frame
  constexpr int kMemory = 8;                   // zlib's own choice
  constexpr size_t kMostGiven = 1 << 30;       // zlib counts what it is given in 32 bits
  z_stream stream{};
  if (deflateInit2(&stream, settings.level, Z_DEFLATED,
                   settings.frame == DeflateFrame::kGzip ? kGzipWindow : MAX_WBITS, kMemory,
                   settings.only_letters ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, deflateEnd);
  std::string packed;
  std::vector<char> buffer(1 << 18);
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const size_t given = std::min(bytes.size(), kMostGiven);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = deflate(&stream, given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    if (state == Z_STREAM_ERROR) throw std::bad_alloc();
    packed.append(buffer.data(), buffer.size() - stream.avail_out);
    bytes.remove_prefix(given - stream.avail_in);
  }
  return packed;
}

}  // namespace vit::tools
