// Products of 8-bit numbers: unsigned activations, one scale and zero point per token, times signed
// weights, one scale per output. Included once per instruction set, after tile.inl and one of the
// files int8_*.inl that make the sums. The integers are exact, so every instruction set gives the
// same ones.

static_assert(kWholeTiles % kInt8Rows == 0);

/// Integers to the numbers they stand for, then all that follows a linear layer.
template <Activation kind, size_t kRows>
inline void int8_rows(const Int8Tile& t, size_t row, size_t panel) {
  prefetch_tile<kRows>(t.out, row, panel * kInt8Panel);
  std::int32_t sums[kRows][kInt8Panel];
  const std::int8_t* weights = t.panels + panel * t.inner * kInt8Panel;
  int8_sums<kRows>(t, row, weights, sums);
  for (size_t r = 0; r < kRows; ++r)
    for (size_t c = 0; c < kInt8Panel; c += kLanes) {
      const size_t column = panel * kInt8Panel + c;
      VecInt sum, correction;
      __builtin_memcpy(&sum, sums[r] + c, sizeof sum);
      __builtin_memcpy(&correction, t.column_sums + column, sizeof correction);
      const Vec exact = __builtin_convertvector(sum - correction * t.row_zeros[row + r], Vec);
      const Vec v = exact * (load(t.column_scales + column) * t.row_scales[row + r]);
      if (column + kLanes <= t.out.columns)
        store_finished<kind>(t.out, v, row + r, column);
      else
        store_finished_part<kind>(t.out, v, row + r, column);
    }
}

template <Activation kind, size_t kRows>
inline void int8_rest(const Int8Tile& t, size_t row, size_t panel) {
  if constexpr (kRows > 0) {
    if (t.out.rows - row == kRows)
      int8_rows<kind, kRows>(t, row, panel);
    else
      int8_rest<kind, kRows - 1>(t, row, panel);
  }
}

template <Activation kind>
void int8_panels(const Int8Tile& t) {
  for (size_t panel = 0; panel * kInt8Panel < t.out.columns; ++panel) {
    size_t row = 0;
    for (; row + kInt8Rows <= t.out.rows; row += kInt8Rows)
      int8_rows<kind, kInt8Rows>(t, row, panel);
    int8_rest<kind, kInt8Rows - 1>(t, row, panel);
  }
}

inline void int8_linear(const Int8Tile& t) {
  switch (t.out.activation) {
    case Activation::kNone:
      return int8_panels<Activation::kNone>(t);
    case Activation::kGelu:
      return int8_panels<Activation::kGelu>(t);
    case Activation::kGeluTanh:
      return int8_panels<Activation::kGeluTanh>(t);
    case Activation::kQuickGelu:
      return int8_panels<Activation::kQuickGelu>(t);
    case Activation::kRelu:
      return int8_panels<Activation::kRelu>(t);
    case Activation::kSilu:
      return int8_panels<Activation::kSilu>(t);
  }
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
  const float inverse = scale > 0.0f ? 1.0f / scale : 0.0f;
  const auto zero = static_cast<int>(0.5f - lowest * inverse);
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
