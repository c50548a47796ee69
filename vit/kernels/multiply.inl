// Products whose right side changes from call to call, as training has them: a panel of it is
// packed just before it is used. Included once per instruction set, after tile.inl and
// transpose.inl.

/// `count` rows of b, at most kLanes, become columns of the panel; the missing ones are zero.
inline void pack_turned(const float* b, size_t stride, size_t count, size_t inner, float* panel) {
  size_t k = 0;
  for (; k + kLanes <= inner; k += kLanes) {
    Vec square[kLanes];
    for (size_t r = 0; r < kLanes; ++r) square[r] = r < count ? load(b + r * stride + k) : Vec{};
    transpose_square(square);
    for (size_t i = 0; i < kLanes; ++i) store(panel + (k + i) * kPanelWidth, square[i]);
  }
  for (; k < inner; ++k)
    for (size_t r = 0; r < kLanes; ++r)
      panel[k * kPanelWidth + r] = r < count ? b[r * stride + k] : 0.0f;
}

/// Columns [first, first + kPanelWidth) of op(b), rows [k, k + inner), as [inner][kPanelWidth].
inline void pack_panel(const MultiplyCall& call, size_t first, size_t k, size_t inner,
                       float* panel) {
  const size_t left = call.columns - first;
  if (call.b_turned) {
    for (size_t half = 0; half < kPanelWidth; half += kLanes) {
      const size_t count = left <= half ? 0 : left - half < kLanes ? left - half : kLanes;
      pack_turned(call.b + (first + half) * call.b_stride + k, call.b_stride, count, inner,
                  panel + half);
    }
    return;
  }
  const float* b = call.b + k * call.b_stride + first;
  for (size_t i = 0; i < inner; ++i, b += call.b_stride, panel += kPanelWidth) {
    if (left >= kPanelWidth) {
      store(panel, load(b));
      store(panel + kLanes, load(b + kLanes));
    } else {
      for (size_t c = 0; c < kPanelWidth; ++c) panel[c] = c < left ? b[c] : 0.0f;
    }
  }
}

/// What a tile works on: some rows of op(a), one panel, and where the product goes.
struct MultiplyTile {
  const float* a;  ///< the first number of the rows' part of op(a)
  size_t a_stride;
  const float* panel;
  size_t inner;
  float alpha;
  float beta;
  const float* bias;  ///< null: none
  float* c;
  size_t c_stride;
  size_t columns;
};

/// Some of the last columns, from `first` on, which may not fill a vector.
[[gnu::noinline]] inline void store_product_part(const MultiplyTile& t, Vec v, float* c,
                                                 size_t first) {
  if (t.columns <= first) return;
  const size_t count = t.columns - first < kLanes ? t.columns - first : kLanes;
  v *= t.alpha;
  if (t.bias != nullptr) v += load_part(t.bias + first, count, 0.0f);
  if (t.beta != 0.0f) v += t.beta * load_part(c + first, count, 0.0f);
  store_part(c + first, v, count);
}

template <bool kTurned, size_t kRows>
inline void multiply_rows(const MultiplyTile& t) {
  Vec acc[kRows][2] = {};
  const float* a = t.a;
  const float* panel = t.panel;
#pragma GCC unroll 4
  for (size_t k = 0; k < t.inner; ++k, panel += kPanelWidth) {
    const Vec first = load(panel), second = load(panel + kLanes);
    if constexpr (kTurned) __builtin_prefetch(a + 8 * t.a_stride);
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const float x = kTurned ? a[r] : a[r * t.a_stride];
      acc[r][0] += first * x;
      acc[r][1] += second * x;
    }
    a += kTurned ? t.a_stride : 1;
  }
  const float alpha = t.alpha, beta = t.beta;
  const size_t columns = t.columns, stride = t.c_stride;
  float* c = t.c;
  if (columns >= kPanelWidth) {
    const Vec bias[2] = {t.bias == nullptr ? Vec{} : load(t.bias),
                         t.bias == nullptr ? Vec{} : load(t.bias + kLanes)};
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r, c += stride) {
      Vec low = acc[r][0] * alpha + bias[0], high = acc[r][1] * alpha + bias[1];
      if (beta != 0.0f) {
        low += beta * load(c);
        high += beta * load(c + kLanes);
      }
      store(c, low);
      store(c + kLanes, high);
    }
    return;
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r, c += stride) {
    store_product_part(t, acc[r][0], c, 0);
    store_product_part(t, acc[r][1], c, kLanes);
  }
}

template <bool kTurned, size_t kRows>
inline void multiply_rest(const MultiplyTile& t, size_t rows) {
  if constexpr (kRows > 0) {
    if (rows == kRows)
      multiply_rows<kTurned, kRows>(t);
    else
      multiply_rest<kTurned, kRows - 1>(t, rows);
  }
}

/// All rows against one panel.
template <bool kTurned>
void multiply_panel(const MultiplyCall& call, MultiplyTile tile) {
  const size_t step = kTurned ? 1 : call.a_stride;
  size_t row = 0;
  for (; row + kTileRows <= call.rows; row += kTileRows) {
    multiply_rows<kTurned, kTileRows>(tile);
    tile.a += kTileRows * step;
    tile.c += kTileRows * tile.c_stride;
  }
  multiply_rest<kTurned, kTileRows - 1>(tile, call.rows - row);
}

/// The inner dimension in parts of equal length whose panel stays in the first-level cache.
void multiply(const MultiplyCall& call) {
  const size_t parts = (call.inner + kMultiplyInner - 1) / kMultiplyInner;
  for (size_t part = 0; part < parts; ++part) {
    const size_t k = part * call.inner / parts, end = (part + 1) * call.inner / parts;
    MultiplyTile tile{.a = call.a + (call.a_turned ? k * call.a_stride : k),
                      .a_stride = call.a_stride,
                      .panel = call.panel,
                      .inner = end - k,
                      .alpha = call.alpha,
                      .beta = part == 0 ? call.beta : 1.0f,
                      .bias = nullptr,
                      .c = call.c,
                      .c_stride = call.c_stride,
                      .columns = call.columns};
    for (size_t column = 0; column < call.columns; column += kPanelWidth) {
      pack_panel(call, column, k, end - k, call.panel);
      tile.c = call.c + column;
      if (part == 0 && call.bias != nullptr) tile.bias = call.bias + column;
      tile.columns = call.columns - column;
      call.a_turned ? multiply_panel<true>(call, tile) : multiply_panel<false>(call, tile);
    }
  }
}
