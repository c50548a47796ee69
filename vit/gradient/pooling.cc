#include <algorithm>

#include "vit/gradient/head.h"

namespace vit::gradient {
namespace {

/// The tokens that pooling sees, of one image.
template <typename T, typename E>
BasicMatrixView<E> pooled_rows(const HeadPart<T>& part, BasicMatrixView<E> tokens, size_t images,
                               size_t image) {
  const size_t each = tokens.rows / images;
  return tokens.row_range(image * each + part.first_pooled, each - part.first_pooled);
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
void pool_by_attention(const HeadPart<T>& head, HeadActivations<T>& kept) {
  const PoolPart<T>& part = head.pool;
  PoolActivations<T>& pool = kept.pool;
  const size_t width = kept.normed.cols();
  pool.attended.resize(kept.images, width);
  cross_attend<T>(part.attention, {part.latent.value, kept.normed}, pool.attention, pool.attended);
  pool.normed.resize(kept.images, width);
  normalize<T>(part.norm, pool.attended, pool.normed);
  feed_forward<T>(part.mlp, pool.normed, pool.mlp, kept.pooled);
  add<T>(pool.attended.view(), kept.pooled.view(), part.norm.isa);
}

template <typename T>
void pool_by_attention_back(const HeadPart<T>& head, HeadActivations<T>& kept,
                            HeadActivations<T>& d, const AttentionHook<T>& hook) {
  const PoolPart<T>& part = head.pool;
  PoolActivations<T>& pool = kept.pool;
  const View<T> dattended = d.features;
  d.pool.normed.resize(dattended.rows, dattended.cols);
  feed_forward_back<T>(part.mlp, pool.mlp, d.pool.mlp, {dattended, pool.normed, d.pool.normed});
  normalize_back<T>(part.norm, pool.attended, d.pool.normed);
  add<T>(d.pool.normed.view(), dattended, part.norm.isa);
  cross_attend_back<T>(part.attention, pool.attention, d.pool.attention,
                       {.dy = dattended,
                        .in = {part.latent.value, kept.normed},
                        .dqueries = part.latent.gradient,
                        .dmemory = d.tokens,
                        .accumulate = true},
                       {hook});
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

/// A layer's columns of the pooled features, or of the gradient there.
template <typename T>
View<T> columns_of(const HeadPart<T>& part, GrowingMatrix<T>& pooled, size_t index) {
  const size_t width = pooled.cols() / part.layers;
  return pooled.view().col_range(index * width, width);
}

/// Tokens [B·T, D] after the norm to `pooled`, one row per image.
template <typename T>
void pool_layer(const HeadPart<T>& part, ConstView<T> tokens, std::vector<size_t>& largest,
                View<T> pooled) {
  const size_t width = tokens.cols, images = pooled.rows;
  const bool both = part.pooling == Pooling::kClassAndMean;
  const Shares shares = shares_of(part.pooling);
  largest.resize(images * width);
  for (size_t image = 0; image < images; ++image) {
    T* out = pooled.row(image);
    std::fill_n(out, pooled.cols, T{0});
    if (takes_class_token(part.pooling))
      std::copy_n(tokens.row(image * (tokens.rows / images)), width, out);
    const ConstView<T> own = pooled_rows(part, tokens, images, image);
    if (shares.mean > 0.0)
      mean_of<T>(own, static_cast<T>(shares.mean / static_cast<double>(own.rows)),
                 both ? out + width : out);
    if (shares.max > 0.0) max_of<T>(own, static_cast<T>(shares.max), &largest[image * width], out);
  }
}

/// The gradient at `pooled` is added to that at the tokens.
template <typename T>
void pool_layer_back(const HeadPart<T>& part, const std::vector<size_t>& largest,
                     ConstView<T> dpooled, View<T> dtokens) {
  const size_t width = dtokens.cols, images = dpooled.rows;
  const bool both = part.pooling == Pooling::kClassAndMean;
  const Shares shares = shares_of(part.pooling);
  for (size_t image = 0; image < images; ++image) {
    const T* dy = dpooled.row(image);
    if (takes_class_token(part.pooling)) {
      T* row = dtokens.row(image * (dtokens.rows / images));
      for (size_t c = 0; c < width; ++c) row[c] += dy[c];
    }
    const View<T> own = pooled_rows(part, dtokens, images, image);
    if (shares.mean > 0.0)
      mean_back<T>(both ? dy + width : dy,
                   static_cast<T>(shares.mean / static_cast<double>(own.rows)), own);
    if (shares.max > 0.0)
      for (size_t c = 0; c < width; ++c)
        own(largest[image * width + c], c) += static_cast<T>(shares.max) * dy[c];
  }
}

}  // namespace

template <typename T>
void pool_tokens(const HeadPart<T>& part, HeadActivations<T>& kept) {
  if (part.pooling == Pooling::kAttention) return pool_by_attention(part, kept);
  pool_layer<T>(part, kept.normed, kept.largest, columns_of(part, kept.pooled, part.layers - 1));
}

template <typename T>
void pool_tokens_back(const HeadPart<T>& part, HeadActivations<T>& kept, HeadActivations<T>& d,
                      const AttentionHook<T>& hook) {
  if (part.pooling == Pooling::kAttention) return pool_by_attention_back<T>(part, kept, d, hook);
  pool_layer_back<T>(part, kept.largest, columns_of(part, d.features, part.layers - 1), d.tokens);
}

template <typename T>
void pool_earlier(const HeadPart<T>& part, HeadActivations<T>& kept, size_t index) {
  pool_layer<T>(part, kept.normed, kept.earlier[index].largest,
                columns_of(part, kept.pooled, index));
}

template <typename T>
void pool_earlier_back(const HeadPart<T>& part, const HeadActivations<T>& kept,
                       HeadActivations<T>& d, size_t index) {
  pool_layer_back<T>(part, kept.earlier[index].largest, columns_of(part, d.features, index),
                     d.layer);
}

template void pool_tokens(const HeadPart<float>&, HeadActivations<float>&);
template void pool_tokens(const HeadPart<double>&, HeadActivations<double>&);
template void pool_tokens_back(const HeadPart<float>&, HeadActivations<float>&,
                               HeadActivations<float>&, const AttentionHook<float>&);
template void pool_tokens_back(const HeadPart<double>&, HeadActivations<double>&,
                               HeadActivations<double>&, const AttentionHook<double>&);
template void pool_earlier(const HeadPart<float>&, HeadActivations<float>&, size_t);
template void pool_earlier(const HeadPart<double>&, HeadActivations<double>&, size_t);
template void pool_earlier_back(const HeadPart<float>&, const HeadActivations<float>&,
                                HeadActivations<float>&, size_t);
template void pool_earlier_back(const HeadPart<double>&, const HeadActivations<double>&,
                                HeadActivations<double>&, size_t);

}  // namespace vit::gradient
