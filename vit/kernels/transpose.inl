// The transpose of a square of kLanes x kLanes numbers in registers. Included once per instruction
// set, after vector.inl.

/// Lanes 0, n, 1, n + 1, … of two vectors of n lanes (first half), or the second half of these.
template <bool kSecond, size_t... kLane>
inline Vec interleave(Vec a, Vec b, std::index_sequence<kLane...>) {
  constexpr int kFirst = kSecond ? kLanes / 2 : 0;
  return __builtin_shufflevector(
      a, b, (kFirst + static_cast<int>(kLane / 2) + (kLane % 2 == 0 ? 0 : int{kLanes}))...);
}

/// The square `rows` becomes its transpose: log2(n) times, vector i and vector i + n/2 are
/// interleaved to vectors 2i and 2i + 1.
inline void transpose_square(Vec (&rows)[kLanes]) {
  constexpr auto lanes = std::make_index_sequence<kLanes>();
  for (size_t round = 1; round < kLanes; round *= 2) {
    Vec next[kLanes];
#pragma GCC unroll 8
    for (size_t i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = interleave<false>(rows[i], rows[i + kLanes / 2], lanes);
      next[2 * i + 1] = interleave<true>(rows[i], rows[i + kLanes / 2], lanes);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}
