// Products of numbers rounded to bfloat16 and summed in float, with the contract of multiply.inl.
// Included once per way of multiplying, after one of the files bf16_*.inl, which defines
// bf16_block() and Bf16Session.
//
// Both sides are packed into tiles of 1 KB, [outer / 16][inner / 32][16][32]: of the left side 16
// rows of 32 numbers; of the right side 16 pairs of rows, the pairs of a column side by side. What
// is missing at the edges is zero.

constexpr size_t kBf16Tile = 16;           // rows or columns
constexpr size_t kBf16Step = 32;           // of the inner dimension
constexpr size_t kBf16TileSize = 16 * 32;  // numbers

inline __mmask16 lanes_below(size_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xFFFFu : (1u << count) - 1u);
}

inline Vec rounded_pair(__m512 low, __m512 high) {
  return __builtin_bit_cast(Vec, _mm512_cvtne2ps_pbh(high, low));
}

/// 16 rows of 32 numbers, of which `rows` and `inner` are there.
inline void round_rows(const float* x, size_t stride, size_t rows, size_t inner, Vec (&out)[16]) {
  const __mmask16 low = lanes_below(inner), high = lanes_below(inner < 16 ? 0 : inner - 16);
  for (size_t r = 0; r < 16; ++r, x += stride)
    out[r] = r < rows
                 ? rounded_pair(_mm512_maskz_loadu_ps(low, x), _mm512_maskz_loadu_ps(high, x + 16))
                 : Vec{};
}

/// 32 rows of 16 numbers as 16 rows of pairs, of which `inner` rows and `columns` are there.
inline void round_pairs(const float* x, size_t stride, size_t columns, size_t inner,
                        Vec (&out)[16]) {
  // Lanes 0, 16, 1, 17, …
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __mmask16 mask = lanes_below(columns);
  for (size_t pair = 0; pair < 16; ++pair, x += 2 * stride) {
    const __m512 first = 2 * pair < inner ? _mm512_maskz_loadu_ps(mask, x) : __m512{};
    const __m512 second = 2 * pair + 1 < inner ? _mm512_maskz_loadu_ps(mask, x + stride) : __m512{};
    out[pair] = __builtin_bit_cast(
        Vec, _mm512_maskz_permutexvar_epi16(
                 ~__mmask32{0}, order, __builtin_bit_cast(__m512i, rounded_pair(first, second))));
  }
}

/// One side of a product on its way into tiles.
struct Bf16Side {
  const float* x;
  size_t stride;
  bool along_inner;  ///< its rows run along the inner dimension
  bool left;
};

inline void pack_bf16_tile(const Bf16Side& side, const float* x, size_t outer, size_t inner,
                           Bf16* tile) {
  Vec square[16];
  if (side.along_inner)
    round_rows(x, side.stride, outer, inner, square);
  else
    round_pairs(x, side.stride, outer, inner, square);
  if (side.along_inner != side.left) transpose_square(square);
  for (size_t i = 0; i < 16; ++i) store(reinterpret_cast<float*>(tile + i * kBf16Step), square[i]);
}

/// The rows (left) or columns (right) [0, outer) of `side`, `inner` numbers of each.
inline void pack_bf16(const Bf16Side& side, size_t outer, size_t inner, Bf16* tiles) {
  const size_t outer_step = side.along_inner ? side.stride : 1;
  const size_t inner_step = side.along_inner ? 1 : side.stride;
  const size_t steps = (inner + kBf16Step - 1) / kBf16Step;
  const auto pack = [&](size_t o, size_t k) {
    pack_bf16_tile(side, side.x + o * outer_step + k * inner_step, outer - o, inner - k,
                   tiles + (o / kBf16Tile * steps + k / kBf16Step) * kBf16TileSize);
  };
  // In the order in which the numbers lie in memory.
  if (side.along_inner) {
    for (size_t o = 0; o < outer; o += kBf16Tile)
      for (size_t k = 0; k < inner; k += kBf16Step) pack(o, k);
  } else {
    for (size_t k = 0; k < inner; k += kBf16Step)
      for (size_t o = 0; o < outer; o += kBf16Tile) pack(o, k);
  }
}

/// What one call does to one part of the inner dimension.
struct Bf16Part {
  const MultiplyCall& call;
  size_t inner;
  float beta;
  const float* bias;  ///< null: none
  const Bf16* a;
  const Bf16* b;

  size_t steps() const { return (inner + kBf16Step - 1) / kBf16Step; }
};

/// Where a block of at most 32 x 32 sums begins in c, and how it becomes c.
struct Bf16Place {
  size_t row;
  size_t column;
  /// c is the sums, which begin with the bias or with c itself: every block of a call alike, so
  /// that a row has the same bits in any of them. Otherwise the sums begin with zero.
  bool starts_with_c(const Bf16Part& part) const {
    return part.call.alpha == 1.0f && part.beta == 1.0f && part.bias == nullptr;
  }
  bool starts_with_bias(const Bf16Part& part) const {
    return part.call.alpha == 1.0f && part.beta == 0.0f;
  }
};

/// The first sums of a block at the edge of c.
inline void start_bf16_edge(const Bf16Part& part, const Bf16Place& at, float* sums) {
  const MultiplyCall& call = part.call;
  const bool from_c = at.starts_with_c(part);
  const bool from_bias = at.starts_with_bias(part) && part.bias != nullptr;
  for (size_t r = 0; r < 32; ++r)
    for (size_t half = 0; half < 32; half += kLanes) {
      const size_t column = at.column + half, row = at.row + r;
      const __mmask16 mask = lanes_below(call.columns > column ? call.columns - column : 0);
      __m512 v{};
      if (from_bias) v = _mm512_maskz_loadu_ps(mask, part.bias + column);
      if (from_c && row < call.rows)
        v = _mm512_maskz_loadu_ps(mask, call.c + row * call.c_stride + column);
      _mm512_storeu_ps(sums + r * 32 + half, v);
    }
}

/// The sums of a block that were not written to c by themselves.
inline void finish_bf16_block(const Bf16Part& part, const Bf16Place& at, const float* sums) {
  const MultiplyCall& call = part.call;
  const bool ready = at.starts_with_c(part) || at.starts_with_bias(part);
  const size_t rows = call.rows - at.row < 32 ? call.rows - at.row : 32;
  for (size_t half = 0; half < 32 && at.column + half < call.columns; half += kLanes) {
    const size_t column = at.column + half;
    const __mmask16 mask = lanes_below(call.columns - column);
    const __m512 bias =
        part.bias == nullptr ? __m512{} : _mm512_maskz_loadu_ps(mask, part.bias + column);
    for (size_t r = 0; r < rows; ++r) {
      float* c = call.c + (at.row + r) * call.c_stride + column;
      __m512 v = _mm512_loadu_ps(sums + r * 32 + half);
      if (!ready) v = v * call.alpha + bias;
      if (!ready && part.beta != 0.0f) v += part.beta * _mm512_maskz_loadu_ps(mask, c);
      _mm512_mask_storeu_ps(c, mask, v);
    }
  }
}

template <size_t kRowTiles, size_t kColumnTiles>
inline void bf16_block_at(const Bf16Part& part, const Bf16Place& at, const Bf16* a) {
  const MultiplyCall& call = part.call;
  const size_t each = part.steps() * kBf16TileSize;
  float* const c = call.c + at.row * call.c_stride + at.column;
  Bf16Block block{.a = a,
                  .b = part.b + at.column / kBf16Tile * each,
                  .next = each,
                  .steps = part.steps(),
                  .start = nullptr,
                  .start_stride = 0,
                  .out = c,
                  .out_stride = call.c_stride};
  const bool ready = at.starts_with_c(part) || at.starts_with_bias(part);
  if (ready && at.row + kRowTiles * kBf16Tile <= call.rows &&
      at.column + kColumnTiles * kBf16Tile <= call.columns) {
    if (at.starts_with_c(part)) {
      block.start = c;
      block.start_stride = call.c_stride;
    } else if (part.bias != nullptr) {
      block.start = part.bias + at.column;
    }
    return bf16_block<kRowTiles, kColumnTiles>(block);
  }
  alignas(64) float sums[32 * 32];
  if (ready) {
    start_bf16_edge(part, at, sums);
    block.start = sums;
    block.start_stride = 32;
  }
  block.out = sums;
  block.out_stride = 32;
  bf16_block<kRowTiles, kColumnTiles>(block);
  finish_bf16_block(part, at, sums);
}

/// Rows [first, first + rows), which part.a holds, against all columns. A panel of 32 columns stays
/// in the first-level cache while the rows pass by.
inline void multiply_bf16_rows(const Bf16Part& part, size_t first, size_t rows) {
  const size_t each = part.steps() * kBf16TileSize;
  for (size_t column = 0; column < part.call.columns; column += 32) {
    const bool wide = column + kBf16Tile < part.call.columns;
    for (size_t row = 0; row < rows; row += 32) {
      const bool tall = row + kBf16Tile < rows;
      const Bf16* a = part.a + row / kBf16Tile * each;
      const Bf16Place at{first + row, column};
      if (tall)
        wide ? bf16_block_at<2, 2>(part, at, a) : bf16_block_at<2, 1>(part, at, a);
      else
        wide ? bf16_block_at<1, 2>(part, at, a) : bf16_block_at<1, 1>(part, at, a);
    }
  }
}

void multiply_bf16(const MultiplyCall& call) {
  const Bf16Session session;
  auto* const a_tiles = reinterpret_cast<Bf16*>(call.panel);
  Bf16* const b_tiles = a_tiles + kBf16Rows * kBf16Inner;
  for (size_t k = 0; k < call.inner; k += kBf16Inner) {
    const size_t inner = call.inner - k < kBf16Inner ? call.inner - k : kBf16Inner;
    const Bf16Part part{.call = call,
                        .inner = inner,
                        .beta = k == 0 ? call.beta : 1.0f,
                        .bias = k == 0 ? call.bias : nullptr,
                        .a = a_tiles,
                        .b = b_tiles};
    pack_bf16({.x = call.b + (call.b_turned ? k : k * call.b_stride),
               .stride = call.b_stride,
               .along_inner = call.b_turned,
               .left = false},
              call.columns, inner, b_tiles);
    for (size_t row = 0; row < call.rows; row += kBf16Rows) {
      const size_t rows = call.rows - row < kBf16Rows ? call.rows - row : kBf16Rows;
      pack_bf16({.x = call.a + (call.a_turned ? k * call.a_stride + row : row * call.a_stride + k),
                 .stride = call.a_stride,
                 .along_inner = !call.a_turned,
                 .left = true},
                rows, inner, a_tiles);
      multiply_bf16_rows(part, row, rows);
    }
  }
}
