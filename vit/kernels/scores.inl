// Attention's weights, made while the scores are still in registers.

/// What a row's scores are added to before they become powers of two: kPowerRound, less the nearest
/// integer to the largest score of the first keys. It need not be near the largest of all, only
/// near enough for the powers not to overflow. NaN, and so all that follows, where scores are so
/// large that integers are not exact.
inline float base_of(Vec scores, float factor) {
  constexpr float kRound = 12582912.0f, kExact = 1e6f;
  const float highest = largest(scores) * factor;
  const float base = kPowerRound - ((highest + kRound) - kRound);
  return highest < kExact && highest > -kExact ? base : __builtin_nanf("");
}

/// Row by row, so that a result does not depend on the rows beside it.
template <size_t kRows, size_t kVectors>
inline void score_rows(const ScoreTile& t, size_t row, const float* panel, size_t column) {
  Vec acc[kRows][kVectors] = {};
  if (t.starts != nullptr)
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v)
        acc[r][v] = load(t.starts + (row + r) * t.starts_stride + column + v * kLanes);
  multiply_steps(t.a + row * t.a_stride, t.a_stride, panel, t.inner, acc);
  // A copy, so that what indexes it does not keep the accumulators in memory.
  Vec scores[kRows][kVectors];
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) scores[r][v] = acc[r][v];
  const float factor = t.factor;
  const auto power = [&](Vec score, float base) __attribute__((always_inline)) {
    const Vec shifted = at_most(at_least(score * factor + base, broadcast(kPowerRound - 127.0f)),
                                broadcast(kPowerRound + 126.0f));
    return power_of_two(shifted, score * factor - (shifted - base));
  };
  const bool partial = column + kVectors * kLanes > t.keys;
  const size_t c_stride = t.c_stride;
  float* c = t.c + row * c_stride + column;
  float *sums = t.sums + row * kLanes, *bases = t.bases + row;
#pragma GCC unroll 1
  for (size_t r = 0; r < kRows; ++r, c += c_stride, sums += kLanes) {
    if (column == 0) {
      bases[r] = base_of(at_least(scores[r][0], scores[r][kVectors - 1]), factor);
      store(sums, Vec{});
    }
    Vec total = load(sums);
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      const Vec weights = power(scores[r][v], bases[r]);
      store(c + v * kLanes, weights);
      total += weights;
    }
    if (!partial)
      store(sums, total);
    else
      for (size_t i = column; i < t.keys; ++i) sums[(i - column) % kLanes] += c[i - column];
  }
}

template <size_t kRows, size_t kVectors>
inline void score_rest(const ScoreTile& t, size_t row, const float* panel, size_t column) {
  if constexpr (kRows > 0) {
    if (t.rows - row == kRows)
      score_rows<kRows, kVectors>(t, row, panel, column);
    else
      score_rest<kRows - 1, kVectors>(t, row, panel, column);
  }
}

template <size_t kVectors>
inline void score_panel(const ScoreTile& t, const float* panel, size_t column) {
  size_t row = 0;
  for (; row + kTileRows <= t.rows; row += kTileRows)
    score_rows<kTileRows, kVectors>(t, row, panel, column);
  score_rest<kTileRows - 1, kVectors>(t, row, panel, column);
}

inline void scores(const ScoreTile& t) {
  const float* panel = t.panels;
  for (size_t column = 0; column < t.keys; column += kPanelWidth, panel += t.inner * kPanelWidth)
    if (column + kLanes < t.keys)
      score_panel<2>(t, panel, column);
    else
      score_panel<1>(t, panel, column);
  for (size_t r = 0; r < t.rows; ++r) t.totals[r] = sum(load(t.sums + r * kLanes));
}
