// Sums of 8-bit products on any machine with vectors of 128 bits, for int8.inl. A vector holds four
// products of each of two outputs in 16 bits. The weights are such that products of k and k + 4 can
// be added there (vit/base/int8.h).

constexpr size_t kInt8Rows = 1, kInt8Panels = 1;

typedef std::int16_t Shorts __attribute__((vector_size(16)));
typedef std::int32_t Ints __attribute__((vector_size(16)));
typedef std::int8_t Bytes __attribute__((vector_size(16)));

/// Four activations, twice.
inline Shorts load_activations(const std::uint8_t* p) {
  typedef std::uint8_t Eight __attribute__((vector_size(8)));
  std::uint32_t four;
  __builtin_memcpy(&four, p, sizeof four);
  const std::uint64_t twice = four * std::uint64_t{0x100000001u};
  Eight bytes;
  __builtin_memcpy(&bytes, &twice, sizeof bytes);
  return __builtin_convertvector(bytes, Shorts);
}

inline Bytes load_weights(const std::int8_t* p) {
  Bytes bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return bytes;
}

/// Four weights of each of two outputs, `kHalf` of 16 bytes. The sign comes from a shift, because
/// SSE2 has no instruction that widens signed bytes.
template <size_t kHalf>
inline Shorts widen_weights(Bytes w) {
  constexpr int kAt = 8 * kHalf;
  const Bytes twice = __builtin_shufflevector(w, w, kAt, kAt, kAt + 1, kAt + 1, kAt + 2, kAt + 2,
                                              kAt + 3, kAt + 3, kAt + 4, kAt + 4, kAt + 5, kAt + 5,
                                              kAt + 6, kAt + 6, kAt + 7, kAt + 7);
  return reinterpret_cast<Shorts>(twice) >> 8;
}

/// Adds the products of two outputs, which have 16 bits, to their sums.
inline void add_pairs(Ints& sums, Shorts products) {
  const auto pairs = reinterpret_cast<Ints>(products);
  sums += ((pairs << 16) >> 16) + (pairs >> 16);
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
      for (size_t p = 0; p < kPairs; p += 2) {
        const Bytes w0 = load_weights(w + 8 * p), w1 = load_weights(w + 64 + 8 * p);
        add_pairs(acc[p], first * widen_weights<0>(w0) + second * widen_weights<0>(w1));
        add_pairs(acc[p + 1], first * widen_weights<1>(w0) + second * widen_weights<1>(w1));
      }
    }
#pragma GCC unroll 8
    for (size_t p = 0; p < kPairs; ++p) {
      sums[r][2 * p] = acc[p][0] + acc[p][1];
      sums[r][2 * p + 1] = acc[p][2] + acc[p][3];
    }
  }
}
