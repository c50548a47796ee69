#include "vit/gradient/head.h"

#include <cmath>
#include <utility>

namespace vit::gradient {
namespace {

/// The distillation token of each image follows its class token.
constexpr size_t kDistillationRow = 1;

/// What is scaled to length 1, or read by the classifier as it is.
template <typename T>
GrowingMatrix<T>& projected(const HeadPart<T>& part, HeadActivations<T>& kept) {
  return part.pre_logits.weight.empty() ? kept.features : kept.hidden;
}

/// What the classifier reads.
template <typename T>
GrowingMatrix<T>& classified(const HeadPart<T>& part, HeadActivations<T>& kept) {
  return part.unit_features ? kept.unit : projected(part, kept);
}

template <typename T>
T dot(ConstView<T> a, ConstView<T> b, size_t row) {
  T sum{0};
  for (size_t c = 0; c < a.cols; ++c) sum += a(row, c) * b(row, c);
  return sum;
}

template <typename T>
void project(const HeadPart<T>& part, HeadActivations<T>& kept) {
  kept.hidden.resize(kept.images, part.pre_logits.weight.value.rows);
  linear<T>(part.pre_logits, kept.features, kept.hidden);
  if (!part.pre_logits_tanh) return;
  for (size_t r = 0; r < kept.images; ++r)
    for (T& value : kept.hidden.view().row_span(r)) value = std::tanh(value);
}

template <typename T>
void project_back(const HeadPart<T>& part, HeadActivations<T>& kept, HeadActivations<T>& d) {
  const View<T> dhidden = d.hidden;
  const ConstView<T> y = kept.hidden;
  for (size_t r = 0; part.pre_logits_tanh && r < y.rows; ++r)
    for (size_t c = 0; c < y.cols; ++c) dhidden(r, c) *= T{1} - y(r, c) * y(r, c);
  d.features.resize(kept.features.rows(), kept.features.cols());
  linear_back<T>(part.pre_logits, {dhidden, kept.features, d.features});
}

/// Each row of `kept.unit` is that of `x` divided by its length.
template <typename T>
void scale_to_unit(ConstView<T> x, HeadActivations<T>& kept) {
  kept.unit.resize(x.rows, x.cols);
  kept.lengths.assign(x.rows, T{1});
  for (size_t r = 0; r < x.rows; ++r) {
    const T length = std::sqrt(dot<T>(x, x, r));
    if (length > T{0}) kept.lengths[r] = length;
    for (size_t c = 0; c < x.cols; ++c) kept.unit.view()(r, c) = x(r, c) / kept.lengths[r];
  }
}

/// What points along the row itself cannot change its unit vector.
template <typename T>
void scale_to_unit_back(const HeadActivations<T>& kept, ConstView<T> dunit, View<T> dx) {
  const ConstView<T> unit = kept.unit;
  for (size_t r = 0; r < unit.rows; ++r) {
    const T along = dot<T>(unit, dunit, r);
    for (size_t c = 0; c < unit.cols; ++c)
      dx(r, c) = (dunit(r, c) - along * unit(r, c)) / kept.lengths[r];
  }
}

/// What the final norm and the pooling read.
template <typename T>
GrowingMatrix<T>& final_tokens(const HeadPart<T>& part, HeadActivations<T>& kept) {
  return part.class_layers.empty() ? kept.tokens : kept.class_tokens;
}

/// y = factor · x
template <typename T>
void scale(ConstView<T> x, T factor, View<T> y) {
  for (size_t r = 0; r < x.rows; ++r)
    for (size_t c = 0; c < x.cols; ++c) y(r, c) = factor * x(r, c);
}

/// The logits become the mean of those of both classifiers.
template <typename T>
void answer_distilled(const HeadPart<T>& part, HeadActivations<T>& kept) {
  const ConstView<T> tokens = kept.normed;
  const size_t images = kept.images;
  kept.distilled.resize(images, tokens.cols);
  for (size_t image = 0; image < images; ++image)
    copy<T>(tokens.row_range(image * (tokens.rows / images) + kDistillationRow, 1),
            kept.distilled.view().row_range(image, 1));
  GrowingMatrix<T> second(images, kept.logits.cols());
  linear<T>(part.distilled, kept.distilled, second);
  add<T>(second.view(), kept.logits, part.distilled.isa);
  scale<T>(kept.logits, T{0.5}, kept.logits);
}

template <typename T>
void answer_distilled_back(const HeadPart<T>& part, HeadActivations<T>& kept, HeadActivations<T>& d,
                           ConstView<T> dlogits) {
  d.distilled.resize(kept.images, d.tokens.cols());
  linear_back<T>(part.distilled, {dlogits, kept.distilled, d.distilled});
  const size_t tokens = d.tokens.rows() / kept.images;
  for (size_t image = 0; image < kept.images; ++image)
    add<T>(d.distilled.view().row_range(image, 1),
           d.tokens.view().row_range(image * tokens + kDistillationRow, 1), part.distilled.isa);
}

/// dlogits to d.features, the gradient at the (normed) pooled features.
template <typename T>
void classify_back(const HeadPart<T>& part, HeadActivations<T>& kept, HeadActivations<T>& d,
                   ConstView<T> dlogits) {
  const GrowingMatrix<T>& read = classified(part, kept);
  GrowingMatrix<T>& dread = classified(part, d);
  dread.resize(read.rows(), read.cols());
  if (part.classifier.weight.empty())
    copy<T>(dlogits, dread);
  else
    linear_back<T>(part.classifier, {dlogits, read, dread});
  if (part.unit_features) {
    GrowingMatrix<T>& dprojected = projected(part, d);
    dprojected.resize(read.rows(), read.cols());
    scale_to_unit_back<T>(kept, d.unit, dprojected);
  }
  if (!part.pre_logits.weight.empty()) project_back(part, kept, d);
}

}  // namespace

template <typename T>
void answer(const HeadPart<T>& part, HeadActivations<T>& kept) {
  if (!part.class_layers.empty()) {
    kept.class_tokens.resize(kept.images, kept.tokens.cols());
    read_patches<T>(part, kept.tokens, kept.class_layers, kept.class_tokens);
  }
  const GrowingMatrix<T>& tokens = final_tokens(part, kept);
  kept.normed.resize(tokens.rows(), tokens.cols());
  const size_t pooled = part.pooling == Pooling::kClassAndMean ? 2 : 1;  // rows per layer
  kept.pooled.resize(kept.images, part.layers * pooled * tokens.cols());
  for (size_t i = 0; i < kept.earlier.size(); ++i) {
    normalize<T>(part.final_norm, kept.earlier[i].tokens, kept.normed);
    pool_earlier(part, kept, i);
  }
  normalize<T>(part.final_norm, tokens, kept.normed);
  pool_tokens(part, kept);
  kept.features.resize(kept.images, kept.pooled.cols());
  normalize<T>(part.pooled_norm, kept.pooled, kept.features);
  if (!part.pre_logits.weight.empty()) project(part, kept);
  if (part.unit_features) scale_to_unit<T>(projected(part, kept), kept);
  const GrowingMatrix<T>& read = classified(part, kept);
  if (part.classifier.weight.empty()) return keep<T>(read.view(), kept.logits);
  kept.logits.resize(kept.images, part.classifier.weight.value.rows);
  linear<T>(part.classifier, read, kept.logits);
  if (!part.distilled.weight.empty()) answer_distilled(part, kept);
}

template <typename T>
void answer_back(const HeadPart<T>& part, HeadActivations<T>& kept, HeadActivations<T>& d,
                 ConstView<T> dlogits, const AttentionHook<T>& hook) {
  d.tokens.resize(kept.normed.rows(), kept.normed.cols());
  d.tokens.fill(T{0});
  if (!part.distilled.weight.empty()) {  // each classifier gets half of the gradient at the mean
    d.logits.resize(dlogits.rows, dlogits.cols);
    scale<T>(dlogits, T{0.5}, d.logits);
    dlogits = d.logits;
    answer_distilled_back<T>(part, kept, d, dlogits);
  }
  classify_back<T>(part, kept, d, dlogits);
  normalize_back<T>(part.pooled_norm, kept.pooled, d.features);
  pool_tokens_back<T>(part, kept, d, hook);
  normalize_back<T>(part.final_norm, final_tokens(part, kept), d.tokens);
  if (part.class_layers.empty()) return;
  std::swap(d.tokens, d.class_tokens);  // pooling gave the gradient at the class tokens
  d.tokens.resize(kept.tokens.rows(), kept.tokens.cols());
  d.tokens.fill(T{0});
  read_patches_back<T>(part, kept.class_layers, d.class_layer,
                       {d.class_tokens, kept.tokens, d.tokens}, hook);
}

template <typename T>
void read_layer_back(const HeadPart<T>& part, const HeadActivations<T>& kept, HeadActivations<T>& d,
                     size_t index) {
  d.layer.resize(d.tokens.rows(), d.tokens.cols());
  d.layer.fill(T{0});
  pool_earlier_back(part, kept, d, index);
  normalize_back<T>(part.final_norm, kept.earlier[index].tokens, d.layer);
  add<T>(d.layer.view(), d.tokens.view(), part.classifier.isa);
}

template void answer(const HeadPart<float>&, HeadActivations<float>&);
template void answer(const HeadPart<double>&, HeadActivations<double>&);
template void answer_back(const HeadPart<float>&, HeadActivations<float>&, HeadActivations<float>&,
                          ConstView<float>, const AttentionHook<float>&);
template void answer_back(const HeadPart<double>&, HeadActivations<double>&,
                          HeadActivations<double>&, ConstView<double>,
                          const AttentionHook<double>&);
template void read_layer_back(const HeadPart<float>&, const HeadActivations<float>&,
                              HeadActivations<float>&, size_t);
template void read_layer_back(const HeadPart<double>&, const HeadActivations<double>&,
                              HeadActivations<double>&, size_t);

}  // namespace vit::gradient
