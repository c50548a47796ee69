// Blocks of bf16.inl on vectors: AVX-512 multiplies and adds pairs in one instruction.

/// Vectors need no preparation.
struct Bf16Session {
  Bf16Session() {}
  ~Bf16Session() {}
};

template <size_t kColumnTiles>
inline void bf16_rows(const Bf16Block& t, const Bf16* a, size_t row) {
  constexpr size_t kRows = 8, kTileNumbers = 512, kPairs = 16;
  __m512 sums[kRows][kColumnTiles] = {};
  if (t.start != nullptr)
    for (size_t r = 0; r < kRows; ++r)
      for (size_t v = 0; v < kColumnTiles; ++v)
        sums[r][v] = _mm512_loadu_ps(t.start + (row + r) * t.start_stride + v * 16);
  const Bf16* b = t.b;
  for (size_t step = 0; step < t.steps; ++step, a += kTileNumbers, b += kTileNumbers)
    for (size_t pair = 0; pair < kPairs; ++pair) {
      __m512bh columns[kColumnTiles];
#pragma GCC unroll 2
      for (size_t v = 0; v < kColumnTiles; ++v)
        columns[v] =
            __builtin_bit_cast(__m512bh, _mm512_loadu_si512(b + v * t.next + pair * 2 * kPairs));
#pragma GCC unroll 8
      for (size_t r = 0; r < kRows; ++r) {
        int both;
        __builtin_memcpy(&both, a + r * 32 + 2 * pair, sizeof both);
        const auto x = __builtin_bit_cast(__m512bh, _mm512_set1_epi32(both));
#pragma GCC unroll 2
        for (size_t v = 0; v < kColumnTiles; ++v)
          sums[r][v] = _mm512_dpbf16_ps(sums[r][v], x, columns[v]);
      }
    }
  for (size_t r = 0; r < kRows; ++r)
    for (size_t v = 0; v < kColumnTiles; ++v)
      _mm512_storeu_ps(t.out + (row + r) * t.out_stride + v * 16, sums[r][v]);
}

template <size_t kRowTiles, size_t kColumnTiles>
inline void bf16_block(const Bf16Block& t) {
  for (size_t row = 0; row < kRowTiles * 16; row += 8)
    bf16_rows<kColumnTiles>(t, t.a + row / 16 * t.next + row % 16 * 32, row);
}
