// Sums of 8-bit products in plain C++, for int8.inl.

constexpr size_t kInt8Rows = 1, kInt8Panels = 1;

template <size_t kRows, size_t>
inline void int8_sums(const Int8Tile& t, size_t row, const std::int8_t* panel,
                      std::int32_t (&sums)[kRows][kInt8Panel]) {
  for (auto& line : sums)
    for (std::int32_t& sum : line) sum = 0;
  for (size_t k = 0; k < t.inner; k += 4, panel += 4 * kInt8Panel)
    for (size_t r = 0; r < kRows; ++r) {
      const std::uint8_t* x = t.x + (row + r) * t.x_stride + k;
      for (size_t c = 0; c < kInt8Panel; ++c)
        for (size_t i = 0; i < 4; ++i) sums[r][c] += x[i] * panel[4 * c + i];
    }
}
