#include <algorithm>

#include "vit/gradient/head.h"

namespace vit::gradient {
namespace {

/// The tokens that pooling sees, of one image.
template <typename E>
BasicMatrixView<E> seen(const HeadRule& rule, BasicMatrixView<E> tokens, size_t image) {
  const size_t each = tokens.rows / rule.images;
  const size_t first = rule.pool_prefix ? 0 : rule.prefix;
  return tokens.row_range(image * each + first, each - first);
}

template <typename T>
void mean_of(ConstView<T> tokens, T factor, T* out) {
  for (size_t r = 0; r < tokens.rows; ++r)
    for (size_t c = 0; c < tokens.cols; ++c) out[c] += factor * tokens(r, c);
}

template <typename T>
void mean_back(const T* dy, T factor, View<T> dtokens) {
  for (size_t r = 0; r < dtokens.rows; ++r)
    for (size_t c = 0; c < dtokens.cols; ++c) dtokens(r, c) += factor * dy[c];
}

template <typename T>
void max_of(ConstView<T> tokens, T factor, size_t* largest, T* out) {
  for (size_t c = 0; c < tokens.cols; ++c) {
    largest[c] = 0;
    for (size_t r = 1; r < tokens.rows; ++r)
      if (tokens(r, c) > tokens(largest[c], c)) largest[c] = r;
    out[c] += factor * tokens(largest[c], c);
  }
}

template <typename T>
HeadsCall<T> pool_call(const HeadRule& rule, const PoolTrace<T>& trace, size_t image) {
  const ConstView<T> memory = seen(rule, trace.key_value.view(), image);
  const size_t width = memory.cols / 2;
  return {.queries = trace.query,
          .keys = memory.col_range(0, width),
          .values = memory.col_range(width, width),
          .heads = rule.heads,
          .key_value_heads = rule.heads};
}

template <typename T>
void attention_of(const HeadRule& rule, const PoolPart<const T>& part, HeadTrace<T>& trace) {
  PoolTrace<T>& pool = trace.pool;
  const size_t width = trace.normed.cols();
  pool.query.resize(1, width);
  linear<T>(part.query, part.latent, pool.query);
  pool.key_value.resize(trace.normed.rows(), 2 * width);
  linear<T>(part.key_value, trace.normed, pool.key_value);
  const size_t keys = seen(rule, trace.normed.view(), 0).rows;
  pool.probabilities.resize(rule.images * rule.heads, keys);
  pool.context.resize(rule.images, width);
  for (size_t image = 0; image < rule.images; ++image)
    weigh<T>(pool_call(rule, pool, image),
             pool.probabilities.view().row_range(image * rule.heads, rule.heads),
             pool.context.view().row_range(image, 1));
  pool.attended.resize(rule.images, width);
  linear<T>(part.project, pool.context, pool.attended);
  pool.normed.resize(rule.images, width);
  normalize<T>(rule.norm, part.norm, pool.attended, pool.normed);
  feed_forward<T>(rule.mlp, part.mlp, pool.normed, pool.mlp, trace.pooled);
  add<T>(pool.attended.view(), trace.pooled.view());
}

/// scratch.rows, the gradient at the context, to those of queries, keys and values.
template <typename T>
void pool_heads_back(const HeadRule& rule, const HeadBack<T>& back) {
  const PoolTrace<T>& pool = back.trace.pool;
  HeadScratch<T>& s = back.scratch;
  s.key_value.resize(pool.key_value.rows(), pool.key_value.cols());
  s.key_value.fill(T{0});
  s.query.resize(1, pool.query.cols());
  s.query_sum.resize(1, pool.query.cols());
  s.query_sum.fill(T{0});
  s.probabilities.resize(rule.heads, pool.probabilities.cols());
  for (size_t image = 0; image < rule.images; ++image) {
    const HeadsCall<T> call = pool_call(rule, pool, image);
    const View<T> memory = seen(rule, s.key_value.view(), image);
    const size_t width = memory.cols / 2;
    const HeadsGradient<T> gradient{s.query, memory.col_range(0, width),
                                    memory.col_range(width, width), s.probabilities};
    const ConstView<T> p = pool.probabilities.view().row_range(image * rule.heads, rule.heads);
    weigh_back<T>(call, p, s.rows.view().row_range(image, 1), gradient);
    if (back.pooling_hook != nullptr && *back.pooling_hook)
      (*back.pooling_hook)({0, 0, image, p, gradient.probabilities});
    score_back<T>(call, p, gradient);
    add<T>(s.query.view(), s.query_sum.view());
  }
}

template <typename T>
void attention_back(const HeadRule& rule, const HeadBack<T>& back, View<T> dpooled,
                    View<T> dtokens) {
  const PoolTrace<T>& pool = back.trace.pool;
  const PoolPart<T>& gradients = back.gradients.pool;
  const PoolPart<const T>& part = back.part.pool;
  HeadScratch<T>& s = back.scratch;
  s.rows.resize(dpooled.rows, dpooled.cols);
  feed_forward_back<T>(rule.mlp, {part.mlp, gradients.mlp, pool.mlp, s.mlp}, dpooled,
                       {pool.normed, s.rows});
  normalize_back<T>(rule.norm, part.norm, pool.attended, s.rows, gradients.norm);
  add<T>(s.rows.view(), dpooled);
  linear_back<T>(part.project, dpooled, gradients.project, {pool.context, s.rows});
  pool_heads_back(rule, back);
  linear_back<T>(part.key_value, s.key_value, gradients.key_value,
                 {back.trace.normed, dtokens, true});
  linear_back<T>(part.query, s.query_sum, gradients.query, {part.latent, gradients.latent, true});
}

/// How much of the pooled numbers is the mean, and how much the maximum.
struct Shares {
  double mean = 0.0;
  double max = 0.0;
};

Shares shares_of(Pooling pooling) {
  if (pooling == Pooling::kMax) return {0.0, 1.0};
  if (pooling == Pooling::kMeanMax) return {0.5, 0.5};
  return {pooling == Pooling::kClass ? 0.0 : 1.0, 0.0};
}

bool takes_class_token(Pooling pooling) {
  return pooling == Pooling::kClass || pooling == Pooling::kClassAndMean;
}

}  // namespace

template <typename T>
void pool_tokens(const HeadRule& rule, const PoolPart<const T>& part, HeadTrace<T>& trace) {
  const ConstView<T> tokens = trace.normed;
  const size_t width = tokens.cols;
  const bool both = rule.pooling == Pooling::kClassAndMean;
  trace.pooled.resize(rule.images, both ? 2 * width : width);
  if (rule.pooling == Pooling::kAttention) return attention_of(rule, part, trace);
  trace.pooled.fill(T{0});
  trace.largest.resize(rule.images * width);
  const Shares shares = shares_of(rule.pooling);
  for (size_t image = 0; image < rule.images; ++image) {
    T* out = trace.pooled.view().row(image);
    if (takes_class_token(rule.pooling))
      std::copy_n(tokens.row(image * (tokens.rows / rule.images)), width, out);
    const ConstView<T> own = seen(rule, tokens, image);
    if (shares.mean > 0.0)
      mean_of<T>(own, static_cast<T>(shares.mean / static_cast<double>(own.rows)),
                 both ? out + width : out);
    if (shares.max > 0.0)
      max_of<T>(own, static_cast<T>(shares.max), &trace.largest[image * width], out);
  }
}

template <typename T>
void pool_tokens_back(const HeadRule& rule, const HeadBack<T>& back, View<T> dpooled,
                      View<T> dtokens) {
  if (rule.pooling == Pooling::kAttention) return attention_back(rule, back, dpooled, dtokens);
  const size_t width = dtokens.cols;
  const Shares shares = shares_of(rule.pooling);
  for (size_t image = 0; image < rule.images; ++image) {
    const T* dy = dpooled.row(image);
    if (takes_class_token(rule.pooling)) {
      T* row = dtokens.row(image * (dtokens.rows / rule.images));
      for (size_t c = 0; c < width; ++c) row[c] += dy[c];
    }
    const View<T> own = seen(rule, dtokens, image);
    const bool both = rule.pooling == Pooling::kClassAndMean;
    if (shares.mean > 0.0)
      mean_back<T>(both ? dy + width : dy,
                   static_cast<T>(shares.mean / static_cast<double>(own.rows)), own);
    if (shares.max > 0.0)
      for (size_t c = 0; c < width; ++c)
        own(back.trace.largest[image * width + c], c) += static_cast<T>(shares.max) * dy[c];
  }
}

template void pool_tokens(const HeadRule&, const PoolPart<const float>&, HeadTrace<float>&);
template void pool_tokens(const HeadRule&, const PoolPart<const double>&, HeadTrace<double>&);
template void pool_tokens_back(const HeadRule&, const HeadBack<float>&, View<float>, View<float>);
template void pool_tokens_back(const HeadRule&, const HeadBack<double>&, View<double>,
                               View<double>);

}  // namespace vit::gradient
