// The register tile: kTileRows rows of x against one panel of 2·kLanes columns, all of the inner
// dimension in one go.
//
// Every output is one chain of fused multiply-adds in the order of the inner dimension, whatever
// the tile it falls into: a result does not depend on how rows and columns are shared among
// workers.

constexpr size_t kPanelWidth = 2 * kLanes;

/// Prefetches the next panel's weights from beyond the second-level cache: one cache line every few
/// steps. Bursts of prefetches would delay the loads of the current panel.
class PanelPrefetch {
 public:
  /// `tiles` read a panel before the next one is needed.
  explicit PanelPrefetch(size_t tiles) : steps_(tiles / kLinesPerStep) {
    if (steps_ < kFewest) steps_ = kFewest;
  }

  void start(const float* panel) { at_ = reinterpret_cast<size_t>(panel); }
  /// May run a little past the end: a prefetch of any address is harmless.
  void advance() {
    __builtin_prefetch(reinterpret_cast<const void*>(at_), 0, 2);
    at_ += kLineBytes;
  }
  size_t steps() const { return steps_; }

 private:
  static constexpr size_t kLineBytes = 64;
  static constexpr size_t kLinesPerStep =
      kPanelWidth * sizeof(float) <= kLineBytes ? 1 : kPanelWidth * sizeof(float) / kLineBytes;
  static constexpr size_t kFewest = 8;
  size_t steps_;
  size_t at_ = 0;
};

/// kVectors: 2, or 1 for a panel whose second half is empty.
template <size_t kRows, size_t kVectors>
[[gnu::always_inline]] inline void multiply_steps(const float* a, size_t a_stride,
                                                  const float* panel, size_t steps,
                                                  Vec (&acc)[kRows][kVectors]) {
  // Unrolled, for the end of a short loop to be foreseen: 1.5 % of a product with K = 192.
#pragma GCC unroll 8
  for (size_t k = 0; k < steps; ++k, panel += kPanelWidth) {
    Vec columns[kVectors];
    for (size_t v = 0; v < kVectors; ++v) columns[v] = load(panel + v * kLanes);
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const float x = a[r * a_stride + k];
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) acc[r][v] += columns[v] * x;
    }
  }
}

/// What happens to a finished vector of the last columns, which may not fill it.
template <Activation kind>
[[gnu::noinline]] void store_finished_part(const TileOutput& t, Vec v, size_t row, size_t column) {
  if (column >= t.columns) return;
  const size_t left = t.columns - column < kLanes ? t.columns - column : kLanes;
  if (t.bias != nullptr) v += load_part(t.bias + column, left, 0.0f);
  v = activate<kind>(v);
  if (t.layer_scale != nullptr) v = rounded(v * load_part(t.layer_scale + column, left, 0.0f));
  if (t.residual != nullptr)
    v += load_part(t.residual + row * t.residual_stride + column, left, 0.0f);
  store_part(t.y + row * t.y_stride + column, v, left);
}

/// Functions that a loop over the rows may be unrolled for; long ones would take the registers from
/// each other.
template <Activation kind>
constexpr bool kShort = kind == Activation::kNone || kind == Activation::kRelu;

/// Some rows of a whole panel. Everything is in locals: to the compiler a store could change what
/// the tile points to, and reading it again for every vector took 4 % of a product with
/// K = 192.
template <Activation kind, size_t kRows>
[[gnu::always_inline]] inline void store_rows(const TileOutput& t, const Vec (&acc)[kRows][2],
                                              size_t row, size_t column) {
  const float *bias = t.bias, *scale = t.layer_scale;
  const float* residual = t.residual;
  const size_t y_stride = t.y_stride, residual_stride = t.residual_stride;
  float* y = t.y + row * y_stride + column;
  if (residual != nullptr) residual += row * residual_stride + column;
  const Vec bias0 = bias == nullptr ? Vec{} : load(bias + column);
  const Vec bias1 = bias == nullptr ? Vec{} : load(bias + column + kLanes);
  const auto store_row = [&](const Vec(&sums)[2]) __attribute__((always_inline)) {
    Vec left = activate<kind>(sums[0] + bias0), right = activate<kind>(sums[1] + bias1);
    if (scale != nullptr) {
      left = rounded(left * load(scale + column));
      right = rounded(right * load(scale + column + kLanes));
    }
    if (residual != nullptr) {
      left += load(residual);
      right += load(residual + kLanes);
      residual += residual_stride;
    }
    store(y, left);
    store(y + kLanes, right);
    y += y_stride;
  };
  if constexpr (kShort<kind>) {
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) store_row(acc[r]);
  } else {
#pragma GCC unroll 1
    for (size_t r = 0; r < kRows; ++r) store_row(acc[r]);
  }
}

/// Some rows of the panel that the output ends in.
template <Activation kind, size_t kRows>
[[gnu::noinline]] void store_last_rows(const TileOutput& t, const Vec (&acc)[kRows][2], size_t row,
                                       size_t column) {
  for (size_t r = 0; r < kRows; ++r) {
    store_finished_part<kind>(t, acc[r][0], row + r, column);
    store_finished_part<kind>(t, acc[r][1], row + r, column + kLanes);
  }
}

constexpr size_t kLine = 16;  // floats

/// A tile's outputs lie in as many distant places as it has rows. Asked for before the products,
/// they are there after them.
template <size_t kRows>
[[gnu::always_inline]] inline void prefetch_tile(const TileOutput& t, size_t row, size_t column) {
  const float* y = t.y + row * t.y_stride + column;
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (size_t c = 0; c < kPanelWidth; c += kLine) __builtin_prefetch(y + r * t.y_stride + c, 1);
  if (t.residual == nullptr || t.residual == t.y) return;
  const float* residual = t.residual + row * t.residual_stride + column;
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (size_t c = 0; c < kPanelWidth; c += kLine)
      __builtin_prefetch(residual + r * t.residual_stride + c);
}

template <Activation kind, size_t kRows>
inline void linear_rows(const LinearTile& t, size_t row, const float* panel, size_t column,
                        PanelPrefetch& ahead) {
  prefetch_tile<kRows>(t.out, row, column);
  Vec acc[kRows][2] = {};
  const float* x = t.x + row * t.x_stride;
  for (size_t left = t.in; left > 0;) {
    const size_t steps = left < ahead.steps() ? left : ahead.steps();
    ahead.advance();
    multiply_steps(x, t.x_stride, panel, steps, acc);
    x += steps;
    panel += steps * kPanelWidth;
    left -= steps;
  }
  const bool whole = column + kPanelWidth <= t.out.columns;
  if constexpr (kShort<kind>)
    if (whole) return store_rows<kind, kRows>(t.out, acc, row, column);
  // A copy, so that what indexes it does not keep the accumulators in memory.
  Vec finished[kRows][2];
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    finished[r][0] = acc[r][0];
    finished[r][1] = acc[r][1];
  }
  if (whole)
    store_rows<kind, kRows>(t.out, finished, row, column);
  else
    store_last_rows<kind, kRows>(t.out, finished, row, column);
}

template <Activation kind, size_t kRows>
inline void linear_rest(const LinearTile& t, size_t row, size_t end, const float* panel,
                        size_t column, PanelPrefetch& ahead) {
  if constexpr (kRows > 0) {
    if (end - row == kRows)
      linear_rows<kind, kRows>(t, row, panel, column, ahead);
    else
      linear_rest<kind, kRows - 1>(t, row, end, panel, column, ahead);
  }
}

/// Rows of x that all panels pass by before the next rows: as many as stay in the second-level
/// cache, unless they are so few that the weights would be read too often.
inline size_t rows_at_a_time(const LinearTile& t) {
  constexpr size_t kFewest = 64;
  const size_t most = t.cached / (t.in + 1);
  if (t.out.rows <= most || most < kFewest) return t.out.rows;
  const size_t blocks = (t.out.rows + most - 1) / most;
  const size_t tiles = (t.out.rows + blocks * kTileRows - 1) / (blocks * kTileRows);
  return tiles * kTileRows;
}

template <Activation kind>
void linear_panels(const LinearTile& t, size_t first, size_t end) {
  const size_t size = t.in * kPanelWidth;
  const float* panel = t.panels;
  PanelPrefetch ahead((end - first + kTileRows - 1) / kTileRows);
  for (size_t column = 0; column < t.out.columns; column += kPanelWidth, panel += size) {
    // After the last one come the first for the next rows, or another worker's.
    const bool last = column + kPanelWidth >= t.out.columns;
    ahead.start(last && end < t.out.rows ? t.panels : panel + size);
    size_t row = first;
    for (; row + kTileRows <= end; row += kTileRows)
      linear_rows<kind, kTileRows>(t, row, panel, column, ahead);
    linear_rest<kind, kTileRows - 1>(t, row, end, panel, column, ahead);
  }
}
template <Activation kind>
void linear_panels(const LinearTile& t) {
  const size_t rows = rows_at_a_time(t);
  for (size_t first = 0; first < t.out.rows; first += rows)
    linear_panels<kind>(t, first, first + rows < t.out.rows ? first + rows : t.out.rows);
}

inline void linear(const LinearTile& t) {
  with_activation(t.out.activation, [&]<Activation kind>() { linear_panels<kind>(t); });
}

template <size_t kRows>
inline void product_rows(const ProductTile& t, size_t row) {
  Vec acc[kRows][2] = {};
  multiply_steps(t.a + row * t.a_stride, t.a_stride, t.panel, t.inner, acc);
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
