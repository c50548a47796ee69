// Attention's weights, made while the scores are still in registers. Included once per instruction
// set, after tile.inl.

/// What a row's scores are added to before they become powers of two: kPowerRound, less the nearest
/// integer to the largest score of the first panel. It need not be near the largest of all, only
/// near enough for the powers not to overflow. NaN, and so all that follows, where scores are so
/// large that integers are not exact.
inline float base_of(Vec left, Vec right, float factor) {
  constexpr float kRound = 12582912.0f, kExact = 1e6f;
  const float highest = largest(at_least(left, right)) * factor;
  const float base = kPowerRound - ((highest + kRound) - kRound);
  return highest < kExact && highest > -kExact ? base : __builtin_nanf("");
}

/// Row by row, so that a result does not depend on the rows beside it.
template <size_t kRows>
inline void score_rows(const ScoreTile& t, size_t row, const float* panel, size_t column) {
  Vec acc[kRows][2] = {};
  multiply_steps<kRows>(t.a + row * t.a_stride, t.a_stride, panel, t.inner, acc);
  // A copy, so that what indexes it does not keep the accumulators in memory.
  Vec scores[kRows][2];
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    scores[r][0] = acc[r][0];
    scores[r][1] = acc[r][1];
  }
  const float factor = t.factor;
  const auto power = [&](Vec score, float base) __attribute__((always_inline)) {
    const Vec shifted = at_most(at_least(score * factor + base, broadcast(kPowerRound - 127.0f)),
                                broadcast(kPowerRound + 126.0f));
    return power_of_two(shifted, score * factor - (shifted - base));
  };
  const bool partial = column + kPanelWidth > t.keys;
  const size_t c_stride = t.c_stride;
  float* c = t.c + row * c_stride + column;
  float *sums = t.sums + row * kLanes, *bases = t.bases + row;
#pragma GCC unroll 1
  for (size_t r = 0; r < kRows; ++r, c += c_stride, sums += kLanes) {
    if (column == 0) {
      bases[r] = base_of(scores[r][0], scores[r][1], factor);
      store(sums, Vec{});
    }
    const float base = bases[r];
    const Vec left = power(scores[r][0], base), right = power(scores[r][1], base);
    store(c, left);
    store(c + kLanes, right);
    if (!partial)
      store(sums, load(sums) + (left + right));
    else
      for (size_t i = column; i < t.keys; ++i) sums[(i - column) % kLanes] += c[i - column];
  }
}

template <size_t kRows>
inline void score_rest(const ScoreTile& t, size_t row, const float* panel, size_t column) {
  if constexpr (kRows > 0) {
    if (t.rows - row == kRows)
      score_rows<kRows>(t, row, panel, column);
    else
      score_rest<kRows - 1>(t, row, panel, column);
  }
}

inline void scores(const ScoreTile& t) {
  const float* panel = t.panels;
  for (size_t column = 0; column < t.keys; column += kPanelWidth, panel += t.inner * kPanelWidth) {
    size_t row = 0;
    for (; row + kTileRows <= t.rows; row += kTileRows)
      score_rows<kTileRows>(t, row, panel, column);
    score_rest<kTileRows - 1>(t, row, panel, column);
  }
  for (size_t r = 0; r < t.rows; ++r) t.totals[r] = sum(load(t.sums + r * kLanes));
}
