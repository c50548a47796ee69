// Products of 8-bit numbers: unsigned activations, one scale and zero point per token, times signed
// weights, one scale per output. The integers are exact, so every instruction set gives the same
// ones.

/// Sums of one row to the numbers they stand for: kVectors of them, from `column` on.
template <size_t kVectors>
[[gnu::always_inline]] inline void from_sums(const Int8Tile& t, const std::int32_t* sums,
                                             size_t row, size_t column, Vec (&numbers)[2]) {
  const std::int32_t zero = t.row_zeros[row];
  const float scale = t.row_scales[row];
#pragma GCC unroll 2
  for (size_t v = 0; v < kVectors; ++v) {
    VecInt sum, correction;
    __builtin_memcpy(&sum, sums + v * kLanes, sizeof sum);
    __builtin_memcpy(&correction, t.column_sums + column + v * kLanes, sizeof correction);
    const Vec exact = __builtin_convertvector(sum - correction * zero, Vec);
    numbers[v] = rounded(exact * (load(t.column_scales + column + v * kLanes) * scale));
  }
}

/// A tile of as many panels side by side: the integers, then all that follows a linear layer.
template <Activation kind, size_t kRows, size_t kPanels>
inline void int8_rows(const Int8Tile& t, size_t row, size_t column) {
  constexpr size_t kColumns = kPanels * kInt8Panel;
  constexpr size_t kVectors = kColumns < kPanelWidth ? 1 : 2;  // that are worked on at a time
  prefetch_tile<kRows>(t.out, row, column);
  alignas(64) std::int32_t sums[kRows][kColumns];
  int8_sums<kRows, kPanels>(t, row, t.panels + column * t.inner, sums);
#pragma GCC unroll 2
  for (size_t c = 0; c < kColumns; c += kVectors * kLanes) {
    Vec numbers[kRows][2] = {};
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r)
      from_sums<kVectors>(t, sums[r] + c, row + r, column + c, numbers[r]);
    if (kVectors == 2 && column + c + kPanelWidth <= t.out.columns)
      store_rows<kind, kRows>(t.out, numbers, row, column + c);
    else
      store_last_rows<kind, kRows>(t.out, numbers, row, column + c);
  }
}

template <Activation kind, size_t kRows, size_t kPanels>
inline void int8_rest(const Int8Tile& t, size_t row, size_t column) {
  if constexpr (kRows > 0) {
    if (t.out.rows - row == kRows)
      int8_rows<kind, kRows, kPanels>(t, row, column);
    else
      int8_rest<kind, kRows - 1, kPanels>(t, row, column);
  }
}

template <Activation kind, size_t kPanels>
inline void int8_columns(const Int8Tile& t, size_t column) {
  size_t row = 0;
  for (; row + kInt8Rows <= t.out.rows; row += kInt8Rows)
    int8_rows<kind, kInt8Rows, kPanels>(t, row, column);
  int8_rest<kind, kInt8Rows - 1, kPanels>(t, row, column);
}

template <Activation kind>
void int8_panels(const Int8Tile& t) {
  size_t column = 0;
  for (; column + (kInt8Panels - 1) * kInt8Panel < t.out.columns;
       column += kInt8Panels * kInt8Panel)
    int8_columns<kind, kInt8Panels>(t, column);
  if constexpr (kInt8Panels > 1)
    if (column < t.out.columns) int8_columns<kind, 1>(t, column);
}

inline void int8_linear(const Int8Tile& t) {
  with_activation(t.out.activation, [&]<Activation kind>() { int8_panels<kind>(t); });
}

/// The smallest range that holds the row and zero, in 255 steps. Rounds half up.
inline QuantizedRow quantize_row(const float* x, std::uint8_t* q, size_t n) {
  Vec low{}, high{};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec v = load(x + i);
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  float lowest = -largest(-low), highest = largest(high);
  for (; i < n; ++i) {
    lowest = x[i] < lowest ? x[i] : lowest;
    highest = x[i] > highest ? x[i] : highest;
  }
  const float scale = (highest - lowest) / 255.0f;
  // A smaller scale has no finite inverse: numbers that small are zero here. An infinite one makes
  // every product infinite or NaN, which the answer then shows.
  constexpr float kLeastScale = 0x1p-126f, kLargestScale = 0x1.fffffep127f;
  const bool usable = scale >= kLeastScale && scale <= kLargestScale;
  const float inverse = usable ? 1.0f / scale : 0.0f;
  const int zero = usable ? static_cast<int>(0.5f - lowest * inverse) : 0;
  const float offset = static_cast<float>(zero) + 0.5f;
#pragma omp simd
  for (size_t k = 0; k < n; ++k) {
    float v = x[k] * inverse + offset;
    v = v < 0.0f ? 0.0f : v;
    v = v > 255.0f ? 255.0f : v;
    q[k] = static_cast<std::uint8_t>(static_cast<int>(v));
  }
  return {.scale = scale, .zero = zero};
}
