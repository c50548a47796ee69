// Sums of 8-bit products with AVX2, for int8.inl.
//
// AVX2 multiplies pairs of bytes into 16 bits, with saturation. The weights are such that even two
// pairs added there neither saturate nor overflow (vit/base/int8.h), which saves a third of the
// multiplications.

constexpr size_t kInt8Rows = 4;  // 8 accumulators, 4 weights, 2 activations, ones, and one to spare
constexpr size_t kInt8Panels = 2 * kLanes / kInt8Panel;

inline __m256i load_bytes(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
inline __m256i four_bytes(const std::uint8_t* p) {
  int value;
  __builtin_memcpy(&value, p, sizeof value);
  return _mm256_set1_epi32(value);
}

/// acc += a0·w0 + a1·w1, four bytes of each column at a time.
inline __m256i multiply_bytes(__m256i acc, const __m256i (&a)[2], __m256i w0, __m256i w1) {
  const __m256i pairs =
      _mm256_add_epi16(_mm256_maddubs_epi16(a[0], w0), _mm256_maddubs_epi16(a[1], w1));
  return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/// Sums of one panel, rows of `sums` `stride` apart. Not inline: among what follows, its registers
/// would be kept in memory.
template <size_t kRows>
[[gnu::noinline]] void int8_panel_sums(const Int8Tile& t, size_t row, const std::int8_t* panel,
                                       std::int32_t* sums, size_t stride) {
  __m256i acc[kRows][2] = {};
  const std::uint8_t* x = t.x + row * t.x_stride;
  for (size_t k = 0; k < t.inner; k += kInt8Group, panel += kInt8Group * kInt8Panel) {
    const __m256i w00 = load_bytes(panel), w01 = load_bytes(panel + 32);
    const __m256i w10 = load_bytes(panel + 64), w11 = load_bytes(panel + 96);
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
      const __m256i a[2] = {four_bytes(x + r * t.x_stride + k),
                            four_bytes(x + r * t.x_stride + k + 4)};
      acc[r][0] = multiply_bytes(acc[r][0], a, w00, w10);
      acc[r][1] = multiply_bytes(acc[r][1], a, w01, w11);
    }
  }
#pragma GCC unroll 4
  for (size_t r = 0; r < kRows; ++r, sums += stride) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), acc[r][0]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 8), acc[r][1]);
  }
}

template <size_t kRows, size_t kPanels>
inline void int8_sums(const Int8Tile& t, size_t row, const std::int8_t* panels,
                      std::int32_t (&sums)[kRows][kPanels * kInt8Panel]) {
  for (size_t p = 0; p < kPanels; ++p)
    int8_panel_sums<kRows>(t, row, panels + p * t.inner * kInt8Panel, sums[0] + p * kInt8Panel,
                           kPanels * kInt8Panel);
}
