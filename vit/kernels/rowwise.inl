// Kernels on one row.

inline Vec squared(Vec v) {
  return v * v;
}

// Two sums side by side: the next need not wait for the last.
inline float sum_row(const float* x, size_t n) {
  Vec even{}, odd{};
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    even += load(x + i);
    odd += load(x + i + kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) even += load(x + i);
  if (i < n) odd += load_part(x + i, n - i, 0.0f);
  return sum(even + odd);
}

inline float sum_squares_row(const float* x, float mean, size_t n) {
  Vec even{}, odd{};
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    even += squared(load(x + i) - mean);
    odd += squared(load(x + i + kLanes) - mean);
  }
  for (; i + kLanes <= n; i += kLanes) even += squared(load(x + i) - mean);
  if (i < n) odd += squared(load_part(x + i, n - i, mean) - mean);
  return sum(even + odd);
}

// Two passes on purpose: E[x²] - E[x]² cancels in float when |mean| is large against the spread.
void layer_norm_row(const float* x, const float* gamma, const float* beta, float eps, float* y,
                    size_t n) {
  const float mean = sum_row(x, n) / static_cast<float>(n);
  const float variance = sum_squares_row(x, mean, n) / static_cast<float>(n);
  const float scale = 1.0f / __builtin_sqrtf(variance + eps);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(y + i, (load(x + i) - mean) * scale * load(gamma + i) + load(beta + i));
  for (; i < n; ++i) y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
}

void rms_norm_row(const float* x, const float* gamma, float eps, float* y, size_t n) {
  const float mean_square = sum_squares_row(x, 0.0f, n) / static_cast<float>(n);
  const float scale = 1.0f / __builtin_sqrtf(mean_square + eps);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, load(x + i) * scale * load(gamma + i));
  for (; i < n; ++i) y[i] = x[i] * scale * gamma[i];
}

template <Activation kind>
void activate_row(const float* x, float* y, size_t n) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, activate<kind>(load(x + i)));
  if (i < n) store_part(y + i, activate<kind>(load_part(x + i, n - i, 0.0f)), n - i);
}

template <Activation kind>
void activate_and_multiply_row(const float* gate, const float* value, float* y, size_t n) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(y + i, activate<kind>(load(gate + i)) * load(value + i));
  if (i < n)
    store_part(y + i,
               activate<kind>(load_part(gate + i, n - i, 0.0f)) * load_part(value + i, n - i, 0.0f),
               n - i);
}

void activation_row(Activation activation, const float* x, float* y, size_t n) {
  with_activation(activation, [&]<Activation kind>() { activate_row<kind>(x, y, n); });
}

void gate_row(Activation activation, const float* gate, const float* value, float* y, size_t n) {
  with_activation(activation,
                  [&]<Activation kind>() { activate_and_multiply_row<kind>(gate, value, y, n); });
}

void add_row(const float* update, const float* layer_scale, float* x, size_t n) {
  size_t i = 0;
  if (layer_scale == nullptr) {
    for (; i + kLanes <= n; i += kLanes) store(x + i, load(x + i) + load(update + i));
    for (; i < n; ++i) x[i] += update[i];
  } else {
    for (; i + kLanes <= n; i += kLanes)
      store(x + i, load(x + i) + load(update + i) * load(layer_scale + i));
    for (; i < n; ++i) x[i] += update[i] * layer_scale[i];
  }
}

inline float max_row(const float* x, size_t n) {
  Vec best = broadcast(-__builtin_inff());
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    best = at_least(load(x + i), best);
  }
  float result = largest(best);
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

float exp_row(float* x, size_t n, float scale) {
  const float highest = max_row(x, n);
  size_t i = 0;
  if (highest == -__builtin_inff()) {  // every entry is masked
    for (; i < n; ++i) x[i] = 0.0f;
    return 0.0f;
  }
  // A power of 2 takes less than one of e. The difference first: even where scores are huge, the
  // largest becomes 0.
  const float factor = scale * 1.44269504f;
  const auto power = [&](Vec v) { return exp2((v - highest) * factor); };
  Vec total{}, other{};  // two sums: the next need not wait for the last
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const Vec e = power(load(x + i));
    const Vec f = power(load(x + i + kLanes));
    total += e;
    other += f;
    store(x + i, e);
    store(x + i + kLanes, f);
  }
  total += other;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec e = power(load(x + i));
    total += e;
    store(x + i, e);
  }
  if (i < n) {
    const Vec e = power(load_part(x + i, n - i, -__builtin_inff()));
    total += e;
    store_part(x + i, e, n - i);
  }
  return sum(total);
}

void scale_row(const float* x, float factor, float* y, size_t n) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, load(x + i) * factor);
  for (; i < n; ++i) y[i] = x[i] * factor;
}

/// Neighbours change places: 1 0 3 2 …
template <typename V>
inline V swap_neighbours(V v) {
  if constexpr (sizeof(V) == 64)
    return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  else if constexpr (sizeof(V) == 32)
    return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  else
    return __builtin_shufflevector(v, v, 1, 0, 3, 2);
}

void rotate_neighbours(const float* cosines, const float* sines, float* x, size_t n) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec v = load(x + i);
    store(x + i, v * load(cosines + i) + swap_neighbours(v) * load(sines + i));
  }
  for (; i < n; i += 2) {
    const float a = x[i], b = x[i + 1];
    x[i] = a * cosines[i] + b * sines[i];
    x[i + 1] = b * cosines[i + 1] + a * sines[i + 1];
  }
}

void rotate_halves(const float* cosines, const float* sines, float* x, size_t n) {
  const size_t half = n / 2;
  float* y = x + half;
  size_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    const Vec a = load(x + i), b = load(y + i), c = load(cosines + i), s = load(sines + i);
    store(x + i, a * c - b * s);
    store(y + i, b * c + a * s);
  }
  for (; i < half; ++i) {
    const float a = x[i], b = y[i];
    x[i] = a * cosines[i] - b * sines[i];
    y[i] = b * cosines[i] + a * sines[i];
  }
}
