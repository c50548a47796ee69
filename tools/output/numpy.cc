#include "tools/output/numpy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vit/base/round.h"

namespace vit::tools {

static_assert(std::endian::native == std::endian::little, "the header says '<f4'");

std::string npy_opening(const std::vector<size_t>& shape, size_t bytes) {
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (const size_t extent : shape) dictionary += std::to_string(extent) + ", ";
  dictionary += "), }";
  // Magic, version and length take 10 bytes; the numbers start at a multiple of 64.
  constexpr size_t kStart = 10, kAlignment = 64;
  const size_t least = std::max(kStart + dictionary.size() + 1, bytes);
  const size_t length = round_up(least, kAlignment) - kStart;
  dictionary += std::string(length - 1 - dictionary.size(), ' ') + '\n';

  std::string opening("\x93NUMPY\x01\x00", 8);
  opening += static_cast<char>(length & 0xFF);
  opening += static_cast<char>(length >> 8);
  return opening + dictionary;
}

std::string npy_bytes(std::span<const float> numbers, const std::vector<size_t>& shape) {
  std::string bytes = npy_opening(shape);
  const size_t start = bytes.size();
  bytes.resize(start + numbers.size_bytes());
  std::memcpy(bytes.data() + start, numbers.data(), numbers.size_bytes());
  return bytes;
}

}  // namespace vit::tools
