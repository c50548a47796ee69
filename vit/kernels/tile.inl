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

/// What happens to a finished vector while it is still in registers.
template <Activation kind>
[[gnu::always_inline]] inline void store_finished(const TileOutput& t, Vec v, size_t row,
                                                  size_t column) {
  if (t.bias != nullptr) v += load(t.bias + column);
  v = activate<kind>(v);
  if (t.layer_scale != nullptr) v *= load(t.layer_scale + column);
  if (t.residual != nullptr) v += load(t.residual + row * t.residual_stride + column);
  store(t.y + row * t.y_stride + column, v);
}

/// The same for the last columns, which may not fill a vector.
template <Activation kind>
[[gnu::noinline]] void store_finished_part(const TileOutput& t, Vec v, size_t row, size_t column) {
  if (column >= t.columns) return;
  const size_t left = t.columns - column < kLanes ? t.columns - column : kLanes;
  if (t.bias != nullptr) v += load_part(t.bias + column, left, 0.0f);
  v = activate<kind>(v);
  if (t.layer_scale != nullptr) v *= load_part(t.layer_scale + column, left, 0.0f);
  if (t.residual != nullptr)
    v += load_part(t.residual + row * t.residual_stride + column, left, 0.0f);
  store_part(t.y + row * t.y_stride + column, v, left);
}

/// Some rows of a whole panel, or of one that the output ends in.
template <Activation kind, size_t kRows>
[[gnu::always_inline]] inline void store_tile(const TileOutput& t, const Vec (&acc)[kRows][2],
                                              size_t row, size_t column) {
  if (column + kPanelWidth <= t.columns) {
    constexpr bool kShort = kind == Activation::kNone || kind == Activation::kRelu;
#pragma GCC unroll 16
    for (size_t r = 0; kShort && r < kRows; ++r) {
      store_finished<kind>(t, acc[r][0], row + r, column);
      store_finished<kind>(t, acc[r][1], row + r, column + kLanes);
    }
    // Unrolled, long functions would take the registers from each other.
#pragma GCC unroll 1
    for (size_t r = 0; !kShort && r < kRows; ++r) {
      store_finished<kind>(t, acc[r][0], row + r, column);
      store_finished<kind>(t, acc[r][1], row + r, column + kLanes);
    }
    return;
  }
  for (size_t r = 0; r < kRows; ++r) {
    store_finished_part<kind>(t, acc[r][0], row + r, column);
    store_finished_part<kind>(t, acc[r][1], row + r, column + kLanes);
  }
}

/// A tile's outputs lie in as many distant lines as it has rows. Asked for before the products,
/// they are there after them.
template <size_t kRows>
[[gnu::always_inline]] inline void prefetch_tile(const TileOutput& t, size_t row, size_t column) {
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) __builtin_prefetch(t.y + (row + r) * t.y_stride + column, 1);
  if (t.residual == nullptr || t.residual == t.y) return;
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r)
    __builtin_prefetch(t.residual + (row + r) * t.residual_stride + column);
}

template <Activation kind, size_t kRows>
inline void linear_rows(const LinearTile& t, size_t row, const float* panel, size_t column) {
  prefetch_tile<kRows>(t.out, row, column);
  Vec acc[kRows][2] = {};
  multiply<kRows>(t.x + row * t.x_stride, t.x_stride, panel, kPanelWidth, t.in, acc);
  // A copy, so that what indexes it does not keep the accumulators in memory.
  Vec finished[kRows][2];
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    finished[r][0] = acc[r][0];
    finished[r][1] = acc[r][1];
  }
  store_tile<kind, kRows>(t.out, finished, row, column);
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

/// Each tile asks for its share of the panel that comes next, so that weights arrive from beyond
/// the second-level cache while there is other work.
class PanelPrefetch {
 public:
  PanelPrefetch(const LinearTile& t)
      : share_(t.in * kPanelWidth * kTileRows / (t.out.rows + kTileRows) + kLineFloats) {}

  void next_panel(const float* begin, const float* end) {
    at_ = begin;
    end_ = end;
  }
  void advance() {
    const float* stop = end_ - at_ < static_cast<std::ptrdiff_t>(share_) ? end_ : at_ + share_;
    for (; at_ < stop; at_ += kLineFloats) __builtin_prefetch(at_, 0, 2);
  }

 private:
  static constexpr size_t kLineFloats = 16;
  size_t share_;
  const float* at_ = nullptr;
  const float* end_ = nullptr;
};

template <Activation kind>
void linear_panels(const LinearTile& t) {
  const size_t size = t.in * kPanelWidth;
  const float* panel = t.panels;
  PanelPrefetch ahead(t);
  for (size_t column = 0; column < t.out.columns; column += kPanelWidth, panel += size) {
    const bool last = column + kPanelWidth >= t.out.columns;
    ahead.next_panel(panel + size, last ? panel + size : panel + 2 * size);
    size_t row = 0;
    for (; row + kTileRows <= t.out.rows; row += kTileRows) {
      ahead.advance();
      linear_rows<kind, kTileRows>(t, row, panel, column);
    }
    linear_rest<kind, kTileRows - 1>(t, row, panel, column);
  }
}

inline void linear(const LinearTile& t) {
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

inline void product(const ProductTile& t) {
  size_t row = 0;
  for (; row + kTileRows <= t.rows; row += kTileRows) product_rows<kTileRows>(t, row);
  product_rest<kTileRows - 1>(t, row);
}
