// Sums of 8-bit products on any machine with vectors of 128 bits, for int8.inl. A vector holds four
// products of each of two outputs in 16 bits. The weights are such that products of k and k + 4 can
// be added there (vit/base/int8.h).

constexpr size_t kInt8Rows = 1, kInt8Panels = 1;

typedef std::int16_t Shorts __attribute__((vector_size(16)));
typedef std::int32_t Ints __attribute__((vector_size(16)));

/// Four activations, twice.
inline Shorts load_activations(const std::uint8_t* p) {
  typedef std::uint8_t Bytes __attribute__((vector_size(8)));
  std::uint32_t four;
  __builtin_memcpy(&four, p, sizeof four);
  const std::uint64_t twice = four * std::uint64_t{0x100000001u};
  Bytes bytes;
  __builtin_memcpy(&bytes, &twice, sizeof bytes);
  return __builtin_convertvector(bytes, Shorts);
}

/// Four weights of each of two outputs.
inline Shorts load_weights(const std::int8_t* p) {
  typedef std::int8_t Bytes __attribute__((vector_size(8)));
  Bytes bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return __builtin_convertvector(bytes, Shorts);
}

template <size_t kRows, size_t>
inline void int8_sums(const Int8Tile& t, size_t row, const std::int8_t* panel,
                      std::int32_t (&sums)[kRows][kInt8Panel]) {
  constexpr size_t kPairs = kInt8Panel / 2;  // of outputs
  for (size_t r = 0; r < kRows; ++r) {
    const std::uint8_t* x = t.x + (row + r) * t.x_stride;
    const std::int8_t* w = panel;
    Ints acc[kPairs] = {};
    for (size_t k = 0; k < t.inner; k += kInt8Group, w += kInt8Group * kInt8Panel) {
      const Shorts first = load_activations(x + k), second = load_activations(x + k + 4);
#pragma GCC unroll 8
      for (size_t p = 0; p < kPairs; ++p) {
        const auto products = reinterpret_cast<Ints>(first * load_weights(w + 8 * p) +
                                                     second * load_weights(w + 64 + 8 * p));
        acc[p] += ((products << 16) >> 16) + (products >> 16);
      }
    }
#pragma GCC unroll 8
    for (size_t p = 0; p < kPairs; ++p) {
      sums[r][2 * p] = acc[p][0] + acc[p][1];
      sums[r][2 * p + 1] = acc[p][2] + acc[p][3];
    }
  }
}
