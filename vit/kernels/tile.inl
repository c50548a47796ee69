// The register tile: kTileRows rows of x against one panel of 2·kLanes columns, all of the inner
// dimension in one go. Included once per instruction set, after vector.inl.
//
// Every output is one chain of fused multiply-adds in the order of the inner dimension, whatever
// the tile it falls into: a result does not depend on how rows and columns are shared among
// workers.

constexpr size_t kPanelWidth = 2 * kLanes;

template <size_t kRows>
inline void multiply(const float* a, size_t a_stride, const float* b, size_t b_stride, size_t inner,
                     Vec (&acc)[kRows][2]) {
  for (size_t k = 0; k < inner; ++k, b += b_stride) {
    const Vec left = load(b), right = load(b + kLanes);
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const float x = a[r * a_stride + k];
      acc[r][0] += left * x;
      acc[r][1] += right * x;
    }
  }
}

/// A whole vector, or the `left` numbers that remain of a row.
inline Vec load_some(const float* p, size_t left) {
  return left >= kLanes ? load(p) : load_part(p, left, 0.0f);
}

/// What happens to a finished vector while it is still in registers.
template <Activation kind>
inline void store_finished(const TileOutput& t, Vec v, size_t row, size_t column) {
  if (column >= t.columns) return;
  const size_t left = t.columns - column;
  if (t.bias != nullptr) v += load_some(t.bias + column, left);
  v = activate<kind>(v);
  if (t.layer_scale != nullptr) v *= load_some(t.layer_scale + column, left);
  if (t.residual != nullptr) v += load_some(t.residual + row * t.residual_stride + column, left);
  float* y = t.y + row * t.y_stride + column;
  if (left >= kLanes)
    store(y, v);
  else
    store_part(y, v, left);
}

template <Activation kind, size_t kRows>
inline void linear_rows(const LinearTile& t, size_t row, const float* panel, size_t column) {
  Vec acc[kRows][2] = {};
  multiply<kRows>(t.x + row * t.x_stride, t.x_stride, panel, kPanelWidth, t.in, acc);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    store_finished<kind>(t.out, acc[r][0], row + r, column);
    store_finished<kind>(t.out, acc[r][1], row + r, column + kLanes);
  }
}

template <Activation kind, size_t kRows>
inline void linear_rest(const LinearTile& t, size_t row, const float* panel, size_t column) {
  if constexpr (kRows > 0) {
    if (t.out.rows - row == kRows)
      linear_rows<kind, kRows>(t, row, panel, column);
    else
      linear_rest<kind, kRows - 1>(t, row, panel, column);
  }
}

template <Activation kind>
void linear_panels(const LinearTile& t) {
  const float* panel = t.panels;
  for (size_t column = 0; column < t.out.columns;
       column += kPanelWidth, panel += t.in * kPanelWidth) {
    size_t row = 0;
    for (; row + kTileRows <= t.out.rows; row += kTileRows)
      linear_rows<kind, kTileRows>(t, row, panel, column);
    linear_rest<kind, kTileRows - 1>(t, row, panel, column);
  }
}

void linear(const LinearTile& t) {
  switch (t.out.activation) {
    case Activation::kNone:
      return linear_panels<Activation::kNone>(t);
    case Activation::kGelu:
      return linear_panels<Activation::kGelu>(t);
    case Activation::kGeluTanh:
      return linear_panels<Activation::kGeluTanh>(t);
    case Activation::kQuickGelu:
      return linear_panels<Activation::kQuickGelu>(t);
    case Activation::kRelu:
      return linear_panels<Activation::kRelu>(t);
    case Activation::kSilu:
      return linear_panels<Activation::kSilu>(t);
  }
}

template <size_t kRows>
inline void product_rows(const ProductTile& t, size_t row) {
  Vec acc[kRows][2] = {};
  multiply<kRows>(t.a + row * t.a_stride, t.a_stride, t.b, t.b_stride, t.inner, acc);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    const float scale = t.row_scale == nullptr ? 1.0f : t.row_scale[row + r];
    store(t.c + (row + r) * t.c_stride, acc[r][0] * scale);
    store(t.c + (row + r) * t.c_stride + kLanes, acc[r][1] * scale);
  }
}

template <size_t kRows>
inline void product_rest(const ProductTile& t, size_t row) {
  if constexpr (kRows > 0) {
    if (t.rows - row == kRows)
      product_rows<kRows>(t, row);
    else
      product_rest<kRows - 1>(t, row);
  }
}

void product(const ProductTile& t) {
  size_t row = 0;
  for (; row + kTileRows <= t.rows; row += kTileRows) product_rows<kTileRows>(t, row);
  product_rest<kTileRows - 1>(t, row);
}
