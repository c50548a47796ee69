// Vectors of kLanes floats and elementary functions on them. GCC's and Clang's vector extension
// turns the operators into the instructions of the target region.

typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef int VecInt __attribute__((vector_size(kLanes * 4)));
typedef float UnalignedVec __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

inline Vec load(const float* p) {
  return *reinterpret_cast<const UnalignedVec*>(p);
}
inline void store(float* p, Vec v) {
  *reinterpret_cast<UnalignedVec*>(p) = v;
}
inline Vec broadcast(float x) {
  return x - Vec{};
}

/// A product as it is. Without this the compiler may fuse it with the sum that follows, in one tile
/// and not in another, and the result would depend on the tile.
inline Vec rounded(Vec v) {
#if defined(__x86_64__)
  asm("" : "+v"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#else
  asm("" : "+m"(v));
#endif
  return v;
}

/// The first n lanes; the others are `fill`.
inline Vec load_part(const float* p, size_t n, float fill) {
  Vec v = broadcast(fill);
  __builtin_memcpy(&v, p, n * sizeof(float));
  return v;
}
inline void store_part(float* p, Vec v, size_t n) {
  __builtin_memcpy(p, &v, n * sizeof(float));
}

/// The larger and the smaller of two numbers; a NaN in `x` stays. GCC makes a comparison and a
/// blend of `limit > x ? limit : x` where AVX has one instruction; of the masked ones it makes
/// plain ones again, and it warns of the plain ones' header (GCC PR 105593).
template <typename V>
inline V at_least(V x, V limit) {
#if defined(__x86_64__)
  if constexpr (sizeof(V) == 64)
    return reinterpret_cast<V>(_mm512_maskz_max_ps(0xFFFF, limit, x));
  else if constexpr (sizeof(V) == 32)
    return reinterpret_cast<V>(_mm256_max_ps(limit, x));
  else
#endif
    return limit > x ? limit : x;
}
template <typename V>
inline V at_most(V x, V limit) {
#if defined(__x86_64__)
  if constexpr (sizeof(V) == 64)
    return reinterpret_cast<V>(_mm512_maskz_min_ps(0xFFFF, limit, x));
  else if constexpr (sizeof(V) == 32)
    return reinterpret_cast<V>(_mm256_min_ps(limit, x));
  else
#endif
    return limit < x ? limit : x;
}

/// All lanes into one, halves first: few steps, each waiting for the one before. The halves are
/// shuffles: copied through memory they would keep a loop's running sum there too.
template <typename V, typename Combine>
inline float fold(V v, const Combine& combine) {
  if constexpr (sizeof(V) == 64) {
    return fold(combine(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                        __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)),
                combine);
  } else if constexpr (sizeof(V) == 32) {
    return fold(combine(__builtin_shufflevector(v, v, 0, 1, 2, 3),
                        __builtin_shufflevector(v, v, 4, 5, 6, 7)),
                combine);
  } else {
    v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
    v = combine(v, __builtin_shufflevector(v, v, 1, 0, 3, 2));
    return v[0];
  }
}

inline float sum(Vec v) {
  return fold(v, [](auto a, auto b) { return a + b; });
}
inline float largest(Vec v) {
  return fold(v, [](auto a, auto b) { return a > b ? a : b; });
}

/// For x up to 88. exp(x) = 2^n · exp(r), r = x - n·ln 2, |r| <= ln(2)/2, by a degree-6 polynomial
/// (minimax fit, 3e-9 relative). With rounding: relative error below 3e-7; results below 2^-126
/// become 0.
inline Vec exp(Vec x) {
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it leaves the nearest integer
  const VecInt underflow = x < broadcast(-87.0f);
  x = at_least(x, broadcast(-87.0f));
  const Vec shifted = x * 1.44269504f + kRound;
  const Vec n = shifted - kRound;
  const Vec r = (x - n * 0.693359375f) - n * -2.12194440e-4f;  // ln 2 in two parts
  Vec p = broadcast(1.381460926e-03f);
  p = p * r + 8.368717507e-03f;
  p = p * r + 4.166838899e-02f;
  p = p * r + 1.666652113e-01f;
  p = p * r + 4.999999404e-01f;
  p = p * (r * r) + r + 1.0f;
  const VecInt exponent = (reinterpret_cast<VecInt>(shifted) - 0x4B400000 + 127) << 23;
  const Vec result = p * reinterpret_cast<Vec>(exponent);
  return underflow ? Vec{} : result;
}

/// Added to a number, it leaves the nearest integer n: 1.5 · 2^23 does, and 127 more makes the last
/// bits of the sum the exponent bits of 2^n.
constexpr float kPowerRound = 12582912.0f + 127.0f;

/// 2^n · 2^f, for kPowerRound + n with n from -127 (whose power is 0 here) to 127, and |f| <= 1/2.
inline Vec power_of_two(Vec shifted, Vec f) {
  Vec p = broadcast(1.534581070e-04f);
  p = p * f + 1.339993121e-03f;
  p = p * f + 9.618488962e-03f;
  p = p * f + 5.550328777e-02f;
  p = p * f + 2.402264689e-01f;
  p = p * f + 6.931472057e-01f;
  p = p * f + 1.0f;
  return p * reinterpret_cast<Vec>(reinterpret_cast<VecInt>(shifted) << 23);
}

/// 2^x for x up to 127, less work than exp: 2^n · 2^f, |f| <= 1/2, by a degree-6 polynomial
/// (minimax fit, 2e-9 relative). With rounding: relative error below 2e-7 down to 2^-126, below
/// that 0 or a little more.
inline Vec exp2(Vec x) {
  x = at_least(x, broadcast(-127.0f));  // whose power has the bits of 0
  const Vec shifted = x + kPowerRound;
  return power_of_two(shifted, x - (shifted - kPowerRound));
}

/// The normal distribution function: 1/2 + x·P(2x²/5.5² - 1), x clamped to ±5.5 where it is 0 or 1
/// to 2e-8. P is a minimax fit of degree 15; absolute error below 2e-7 with rounding.
inline Vec normal_cdf(Vec x) {
  constexpr float kEdge = 5.5f;
  const Vec c = at_most(at_least(x, broadcast(-kEdge)), broadcast(kEdge));
  const Vec t = c * c * (2.0f / (kEdge * kEdge)) - 1.0f;
  Vec p = broadcast(-2.364177781e-04f);
  p = p * t + 6.315598730e-04f;
  p = p * t - 5.291317939e-04f;
  p = p * t + 7.201038534e-04f;
  p = p * t - 2.418649849e-03f;
  p = p * t + 4.621783737e-03f;
  p = p * t - 6.819909904e-03f;
  p = p * t + 1.022782549e-02f;
  p = p * t - 1.499907859e-02f;
  p = p * t + 2.036456764e-02f;
  p = p * t - 2.604825981e-02f;
  p = p * t + 3.207026049e-02f;
  p = p * t - 3.879278526e-02f;
  p = p * t + 4.773762822e-02f;
  p = p * t - 6.417233497e-02f;
  p = p * t + 1.285519302e-01f;
  return p * c + 0.5f;
}

/// Whether one instruction picks for each lane one of eight numbers.
constexpr bool kPicksOfEight = kIsa >= Isa::kAvx2;

/// For each lane one of eight numbers, by the last three bits of `which`. GCC has a builtin for
/// this and Clang has none, so the instruction is named.
template <typename V, typename Index>
inline V pick(const float (&numbers)[8], Index which) {
  V all{};
  for (size_t i = 0; i + 8 <= kLanes; i += 8)
    __builtin_memcpy(reinterpret_cast<char*>(&all) + 4 * i, numbers, sizeof numbers);
#if defined(__x86_64__)
  if constexpr (sizeof(V) == 64)
    return reinterpret_cast<V>(
        _mm512_maskz_permutexvar_ps(0xFFFF, reinterpret_cast<__m512i>(which), all));
  else if constexpr (sizeof(V) == 32 && kPicksOfEight)
    return reinterpret_cast<V>(_mm256_permutevar8x32_ps(all, reinterpret_cast<__m256i>(which)));
  else
#endif
  {
    for (size_t i = 0; i < kLanes; ++i) all[i] = numbers[which[i] & 7];
    return all;
  }
}

/// x·Φ(x) = max(x, 0) - |x|·(1 - Φ(|x|)), and 1 - Φ by a polynomial of degree 5 in each of eight
/// parts of 0 to 5.5 (minimax fits, 1.1e-7 of the product): half the work of one for all of them.
/// Absolute error below 3e-7 for |x| <= 5.5, 1.1e-7 and one rounding beyond.
inline Vec gelu_by_parts(Vec x) {
  constexpr float kRound = 12582912.0f, kEdge = 5.5f;
  static constexpr float kParts[6][8] = {
      {1.074376632e-03f, -6.631059805e-04f, -6.842592265e-04f, 4.311312296e-05f, 1.560766104e-04f,
       4.957746205e-05f, 6.968010439e-06f, 5.161717809e-07f},
      {3.369903890e-03f, 4.285865929e-03f, 1.155998107e-04f, -1.351264538e-03f, -6.362424465e-04f,
       -1.296304399e-04f, -1.396518292e-05f, -8.513582088e-07f},
      {-1.795347221e-02f, 8.067610324e-04f, 9.636103176e-03f, 5.723658483e-03f, 1.546554617e-03f,
       2.256808802e-04f, 1.885052734e-05f, 9.260942306e-07f},
      {-3.054056689e-02f, -5.712265894e-02f, -3.700120002e-02f, -1.254769135e-02f,
       -2.434636699e-03f, -2.796388580e-04f, -1.932672239e-05f, -8.108270890e-07f},
      {2.585373223e-01f, 1.611578166e-01f, 6.261941046e-02f, 1.516671665e-02f, 2.289812779e-03f,
       2.154986287e-04f, 1.264313505e-05f, 4.624793633e-07f},
      {-3.655172884e-01f, -1.512118876e-01f, -4.282988980e-02f, -8.058580570e-03f,
       -9.882271988e-04f, -7.802790788e-05f, -3.935194854e-06f, -1.260917770e-07f}};
  const Vec size = at_most(reinterpret_cast<Vec>(reinterpret_cast<VecInt>(x) & 0x7FFFFFFF),
                           broadcast(kEdge - 5e-7f));
  const Vec place = size * (8.0f / kEdge) - 0.5f;
  const Vec shifted = place + kRound;  // its last bits are the part
  const Vec t = place - (shifted - kRound);
  const VecInt part = reinterpret_cast<VecInt>(shifted);
  Vec p = pick<Vec>(kParts[0], part);
#pragma GCC unroll 8
  for (size_t i = 1; i < 6; ++i) p = p * t + pick<Vec>(kParts[i], part);
  return at_least(x, Vec{}) + size * p;
}

inline Vec sigmoid(Vec x) {
  return 1.0f / (1.0f + exp(at_most(-x, broadcast(88.0f))));
}

template <Activation kind>
inline Vec activate(Vec x) {
  if constexpr (kind == Activation::kGelu) {
    if constexpr (kPicksOfEight)
      return gelu_by_parts(x);
    else
      return x * normal_cdf(x);
  }
  // 0.5·x·(1 + tanh(u)) = x·sigmoid(2u), u = sqrt(2/pi)·(x + 0.044715·x³).
  if constexpr (kind == Activation::kGeluTanh)
    return x * sigmoid(1.59576912f * (x + 0.044715f * x * x * x));
  if constexpr (kind == Activation::kQuickGelu) return x * sigmoid(1.702f * x);
  if constexpr (kind == Activation::kSilu) return x * sigmoid(x);
  if constexpr (kind == Activation::kRelu) return x > 0.0f ? x : Vec{};
  return x;
}

/// Calls work.operator()<activation>(): the kernels have the activation as a constant.
template <typename Work>
inline void with_activation(Activation activation, const Work& work) {
  using enum Activation;
  switch (activation) {
    case kNone:
      return work.template operator()<kNone>();
    case kGelu:
      return work.template operator()<kGelu>();
    case kGeluTanh:
      return work.template operator()<kGeluTanh>();
    case kQuickGelu:
      return work.template operator()<kQuickGelu>();
    case kRelu:
      return work.template operator()<kRelu>();
    case kSilu:
      return work.template operator()<kSilu>();
  }
}
