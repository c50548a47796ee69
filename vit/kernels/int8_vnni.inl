// Sums of 8-bit products with VNNI, for int8.inl: four products of bytes go into 32 bits at once,
// so nothing can overflow on the way. A register holds kLanes outputs: 8 (AVX-VNNI) or 16 (AVX-512
// VNNI).

constexpr size_t kInt8Rows = kTileRows;
// Two vectors of outputs: activations that are loaded for one alone keep the multipliers waiting.
constexpr size_t kInt8Panels = 2 * kLanes / kInt8Panel;

/// sums + bytes · weights, four bytes of each lane.
template <typename V>
inline V add_products(V sums, V bytes, V weights) {
  if constexpr (sizeof(V) == 64)
    return reinterpret_cast<V>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums),
                                                   reinterpret_cast<__m512i>(bytes),
                                                   reinterpret_cast<__m512i>(weights)));
  else
    return reinterpret_cast<V>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sums),
                                                       reinterpret_cast<__m256i>(bytes),
                                                       reinterpret_cast<__m256i>(weights)));
}

template <size_t kRows, size_t kPanels>
[[gnu::always_inline]] inline void int8_sums(const Int8Tile& t, size_t row,
                                             const std::int8_t* panels,
                                             std::int32_t (&sums)[kRows][kPanels * kInt8Panel]) {
  typedef int Sums __attribute__((vector_size(kLanes * 4)));
  typedef int UnalignedSums __attribute__((vector_size(kLanes * 4), aligned(1), may_alias));
  constexpr size_t kVectors = kPanels * kInt8Panel / kLanes;
  const size_t panel_bytes = t.inner * kInt8Panel;
  Sums acc[kRows][kVectors] = {};
  const std::uint8_t* x = t.x + row * t.x_stride;
#pragma GCC unroll 4
  for (size_t k = 0; k < t.inner; k += 4, panels += 4 * kInt8Panel) {
    Sums weights[kVectors];
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t output = v * kLanes;
      weights[v] = *reinterpret_cast<const UnalignedSums*>(
          panels + output / kInt8Panel * panel_bytes + output % kInt8Panel * 4);
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      int bytes;
      __builtin_memcpy(&bytes, x + r * t.x_stride + k, sizeof bytes);
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v)
        acc[r][v] = add_products(acc[r][v], bytes - Sums{}, weights[v]);
    }
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) __builtin_memcpy(sums[r], acc[r], sizeof sums[r]);
}
