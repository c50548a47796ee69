// Gradients of the kernels of rowwise.inl, one row at a time.

namespace backward {

/// activation'(x)
template <Activation kind>
inline Vec slope(Vec x) {
  if constexpr (kind == Activation::kGelu)
    return normal_cdf(x) + x * exp(-0.5f * x * x) * 0.398942280f;  // the density: 1/sqrt(2 pi) · …
  if constexpr (kind == Activation::kGeluTanh) {
    const Vec s = sigmoid(1.59576912f * (x + 0.044715f * x * x * x));
    return s + x * s * (1.0f - s) * 1.59576912f * (1.0f + 0.134145f * x * x);
  }
  if constexpr (kind == Activation::kQuickGelu) {
    const Vec s = sigmoid(1.702f * x);
    return s + 1.702f * x * s * (1.0f - s);
  }
  if constexpr (kind == Activation::kSilu) {
    const Vec s = sigmoid(x);
    return s + x * s * (1.0f - s);
  }
  if constexpr (kind == Activation::kRelu) return x > 0.0f ? broadcast(1.0f) : Vec{};
  return broadcast(1.0f);
}

template <Activation kind>
void slope_row(const float* x, const float* dy, float* dx, size_t n) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(dx + i, slope<kind>(load(x + i)) * load(dy + i));
  if (i < n)
    store_part(dx + i, slope<kind>(load_part(x + i, n - i, 0.0f)) * load_part(dy + i, n - i, 0.0f),
               n - i);
}

void activation(Activation activation, const float* x, const float* dy, float* dx, size_t n) {
  with_activation(activation, [&]<Activation kind>() { slope_row<kind>(x, dy, dx, n); });
}

inline float dot_row(const float* a, const float* b, size_t n) {
  Vec total{};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) total += load(a + i) * load(b + i);
  if (i < n) total += load_part(a + i, n - i, 0.0f) * load_part(b + i, n - i, 0.0f);
  return sum(total);
}

void softmax(const float* p, const float* dp, float scale, float* ds, size_t n) {
  const float dot = dot_row(p, dp, n);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(ds + i, scale * load(p + i) * (load(dp + i) - dot));
  for (; i < n; ++i) ds[i] = scale * p[i] * (dp[i] - dot);
}

/// The two means that the gradient of a norm subtracts: of g = dy · gamma, and of g · x̂.
struct NormMeans {
  float g = 0.0f;
  float g_by_x = 0.0f;
};

inline NormMeans norm_means(const NormBackwardRow& r, float mean, float scale) {
  Vec g_total{}, product_total{};
  size_t i = 0;
  for (; i + kLanes <= r.n; i += kLanes) {
    const Vec g = load(r.dy + i) * load(r.gamma + i);
    g_total += g;
    product_total += g * (load(r.x + i) - mean);
  }
  float g_sum = sum(g_total), product_sum = sum(product_total);
  for (; i < r.n; ++i) {
    g_sum += r.dy[i] * r.gamma[i];
    product_sum += r.dy[i] * r.gamma[i] * (r.x[i] - mean);
  }
  const auto count = static_cast<float>(r.n);
  return {g_sum / count, product_sum * scale / count};
}

/// dgamma += dy · x̂, dbeta += dy.
inline void add_norm_weights(const NormBackwardRow& r, float mean, float scale) {
  size_t i = 0;
  if (r.dgamma != nullptr) {
    for (; i + kLanes <= r.n; i += kLanes)
      store(r.dgamma + i, load(r.dgamma + i) + load(r.dy + i) * (load(r.x + i) - mean) * scale);
    for (; i < r.n; ++i) r.dgamma[i] += r.dy[i] * (r.x[i] - mean) * scale;
  }
  if (r.dbeta == nullptr) return;
  for (i = 0; i + kLanes <= r.n; i += kLanes)
    store(r.dbeta + i, load(r.dbeta + i) + load(r.dy + i));
  for (; i < r.n; ++i) r.dbeta[i] += r.dy[i];
}

/// dx = scale · (g - mean(g) - x̂ · mean(g · x̂)); an RMS norm has neither mean.
inline void norm_row(const NormBackwardRow& r, float mean, float scale, bool centred) {
  NormMeans means = norm_means(r, mean, scale);
  if (!centred) means.g = 0.0f;
  add_norm_weights(r, mean, scale);
  const float slope_of_x = means.g_by_x * scale;
  size_t i = 0;
  for (; i + kLanes <= r.n; i += kLanes)
    store(r.dx + i, scale * (load(r.dy + i) * load(r.gamma + i) - means.g -
                             (load(r.x + i) - mean) * slope_of_x));
  for (; i < r.n; ++i)
    r.dx[i] = scale * (r.dy[i] * r.gamma[i] - means.g - (r.x[i] - mean) * slope_of_x);
}

inline float inverse_spread(const NormBackwardRow& r, float mean) {
  return 1.0f / __builtin_sqrtf(sum_squares_row(r.x, mean, r.n) / static_cast<float>(r.n) + r.eps);
}

void layer_norm(const NormBackwardRow& r) {
  const float mean = sum_row(r.x, r.n) / static_cast<float>(r.n);
  norm_row(r, mean, inverse_spread(r, mean), true);
}

void rms_norm(const NormBackwardRow& r) {
  norm_row(r, 0.0f, inverse_spread(r, 0.0f), false);
}

}  // namespace backward
