// Products of one vector with many rows, in one pass over the rows: what a search reads.

/// kLanes numbers of 16 bits as floats; exact for all finite ones.
template <Isa isa = kIsa, typename V = Vec>
inline V load(const std::uint16_t* p) {
#if defined(__x86_64__)
  if constexpr (isa == Isa::kAvx512) {
    // Masked: GCC warns of the plain one's header (GCC PR 105593).
    const auto halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return reinterpret_cast<V>(_mm512_maskz_cvtph_ps(0xFFFF, halves));
  } else if constexpr (isa == Isa::kAvx2) {
    return reinterpret_cast<V>(
        _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  } else
#endif
  {
    typedef std::uint16_t Halves __attribute__((vector_size(kLanes * 2)));
    Halves halves;
    __builtin_memcpy(&halves, p, sizeof halves);
    const VecInt bits = __builtin_convertvector(halves, VecInt);
    // The exponent's bias is 15 in 16 bits and 127 in 32; the product is also right below 2^-14.
    const Vec magnitude = reinterpret_cast<Vec>((bits & 0x7fff) << 13) * 0x1p112f;
    return reinterpret_cast<Vec>(reinterpret_cast<VecInt>(magnitude) | (bits & 0x8000) << 16);
  }
}

/// The first n lanes; the others are 0.
template <typename Number>
inline Vec load_some(const Number* p, size_t n) {
  Number numbers[kLanes] = {};
  __builtin_memcpy(numbers, p, n * sizeof(Number));
  return load(numbers);
}

// Four sums side by side: the next need not wait for the last.
template <typename Number>
inline float dot_row(const Number* x, const float* y, size_t n) {
  Vec sums[4] = {};
  size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes)
    for (size_t part = 0; part < 4; ++part)
      sums[part] += load(x + i + part * kLanes) * load(y + i + part * kLanes);
  for (; i + kLanes <= n; i += kLanes) sums[0] += load(x + i) * load(y + i);
  if (i < n) sums[1] += load_some(x + i, n - i) * load_some(y + i, n - i);
  return sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

template <typename Number>
void dot_rows(const RowDots<Number>& call) {
  for (size_t r = 0; r < call.rows; ++r)
    call.dots[r] = dot_row(call.x + r * call.x_stride, call.y, call.n);
}
