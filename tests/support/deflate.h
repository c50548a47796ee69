/// Compressed bytes for tests of readers.
#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>

namespace vit::test {

/// `window_bits` as in zlib: -MAX_WBITS for raw deflate (ZIP), 16 + MAX_WBITS for gzip.
inline std::string deflated(std::string content, int window_bits = -MAX_WBITS) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("cannot deflate");
  std::string packed(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace vit::test
