// The table kKernels of one instruction set. Only resample_kernels.cc includes this file: once per
// instruction set, inside a namespace and a target region of its own. The namespace defines before:
// widen() and store_clipped(). Sums are written as vectors (GNU vector extensions) because g++ does
// not keep an array of them in registers.

// A perfect shuffle of 16 vectors; four of them transpose the 16x16 bytes.
inline void shuffle_rows(const Bytes16* from, Bytes16* to) {
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) {
    to[2 * i] = __builtin_shufflevector(from[i], from[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                        21, 6, 22, 7, 23);
    to[2 * i + 1] = __builtin_shufflevector(from[i], from[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                            28, 13, 29, 14, 30, 15, 31);
  }
}

inline void transpose16(Bytes16* block) {
  Bytes16 other[16];
  shuffle_rows(block, other);
  shuffle_rows(other, block);
  shuffle_rows(block, other);
  shuffle_rows(other, block);
}

void turn_rows(const std::uint8_t* const* rows, size_t bytes, std::uint8_t* columns) {
  Bytes16 block[16];
  size_t i = 0;
  for (; i + 16 <= bytes; i += 16) {
    for (size_t r = 0; r < 16; ++r) std::memcpy(&block[r], rows[r] + i, 16);
    transpose16(block);
    std::memcpy(columns + i * 16, block, sizeof block);
  }
  if (i == bytes) return;
  for (size_t r = 0; r < 16; ++r) {
    block[r] = Bytes16{};
    std::memcpy(&block[r], rows[r] + i, bytes - i);  // the image may end here
  }
  transpose16(block);
  std::memcpy(columns + i * 16, block, sizeof block);
}

void turn_columns(const std::uint8_t* columns, size_t bytes, std::uint8_t* const* rows) {
  Bytes16 block[16];
  for (size_t i = 0; i < bytes; i += 16) {
    std::memcpy(block, columns + i * 16, sizeof block);
    transpose16(block);
    for (size_t r = 0; r < 16; ++r) std::memcpy(rows[r] + i, &block[r], 16);
  }
}

// Sums wrap like unsigned numbers, so that a weight's sign needs no care and nothing overflows.
template <size_t kVectors>
inline void filter(const std::uint8_t* from, size_t step, const std::int32_t* weights, size_t count,
                   std::uint8_t* out) {
  constexpr std::uint32_t kHalf = 1u << (kWeightBits - 1);
  Sums sums[kVectors];
#pragma GCC unroll 8
  for (size_t v = 0; v < kVectors; ++v) sums[v] = Sums{} + kHalf;
  for (size_t t = 0; t < count; ++t, from += step) {
    const Sums weight = Sums{} + static_cast<std::uint32_t>(weights[t]);
#pragma GCC unroll 8
    for (size_t v = 0; v < kVectors; ++v) {
      Sums wide;
      widen(from + 8 * v, wide);
      sums[v] += weight * wide;
    }
  }
#pragma GCC unroll 8
  for (size_t v = 0; v < kVectors; v += 2) store_clipped(sums[v], sums[v + 1], out + 8 * v);
}

void filter_pixel(const std::uint8_t* pixels, const std::int32_t* weights, size_t count,
                  std::uint8_t* out) {
  filter<3 * kLaneRows / 8>(pixels, 3 * kLaneRows, weights, count, out);
}

void filter_rows(const std::uint8_t* rows, const std::int32_t* weights, size_t count, size_t width,
                 std::uint8_t* out) {
  for (size_t x = 0; x < width; x += kColumnBlock)
    filter<kColumnBlock / 8>(rows + x, width, weights, count, out + x);
}

constexpr ResampleKernels kKernels{turn_rows, turn_columns, filter_pixel, filter_rows};
