#include "vit/gradient/head.h"

#include <cmath>

namespace vit::gradient {
namespace {

/// The distillation token of each image stands behind its class token.
constexpr size_t kDistillationRow = 1;

/// What the classifier reads.
template <typename T>
const Numbers<T>& classified(const HeadPart<const T>& part, const HeadTrace<T>& trace) {
  return part.pre_logits.weight.empty() ? trace.features : trace.hidden;
}

template <typename T>
void answer_distilled(const HeadRule& rule, const HeadPart<const T>& part, HeadTrace<T>& trace) {
  const ConstView<T> tokens = trace.normed;
  trace.distilled.resize(rule.images, tokens.cols);
  for (size_t image = 0; image < rule.images; ++image)
    copy<T>(tokens.row_range(image * (tokens.rows / rule.images) + kDistillationRow, 1),
            trace.distilled.view().row_range(image, 1));
  Numbers<T> second(rule.images, trace.logits.cols());
  linear<T>(part.distilled, trace.distilled, second);
  const View<T> logits = trace.logits;
  for (size_t r = 0; r < logits.rows; ++r)
    for (size_t c = 0; c < logits.cols; ++c)
      logits(r, c) = (logits(r, c) + second.view()(r, c)) / T{2};
}

/// The gradient at each of the two classifiers' logits is half of that at their mean.
template <typename T>
Numbers<T> halved(ConstView<T> gradient) {
  Numbers<T> half(gradient.rows, gradient.cols);
  for (size_t r = 0; r < gradient.rows; ++r)
    for (size_t c = 0; c < gradient.cols; ++c) half.view()(r, c) = gradient(r, c) / T{2};
  return half;
}

template <typename T>
void answer_distilled_back(const HeadRule& rule, const HeadBack<T>& back, ConstView<T> dlogits,
                           View<T> dtokens) {
  Numbers<T>& rows = back.scratch.distilled;
  rows.resize(rule.images, dtokens.cols);
  linear_back<T>(back.part.distilled, dlogits, back.gradients.distilled,
                 {back.trace.distilled, rows});
  for (size_t image = 0; image < rule.images; ++image)
    add<T>(rows.view().row_range(image, 1),
           dtokens.row_range(image * (dtokens.rows / rule.images) + kDistillationRow, 1));
}

/// dlogits to scratch.features, the gradient at the (normed) pooled features.
template <typename T>
void classify_back(const HeadBack<T>& back, ConstView<T> dlogits) {
  HeadScratch<T>& s = back.scratch;
  const HeadTrace<T>& trace = back.trace;
  Numbers<T> dhidden;
  const Numbers<T>& read = classified(back.part, trace);
  dhidden.resize(dlogits.rows, read.cols());
  if (back.part.classifier.weight.empty())
    copy<T>(dlogits, dhidden);
  else
    linear_back<T>(back.part.classifier, dlogits, back.gradients.classifier, {read, dhidden});
  s.features.resize(dlogits.rows, trace.features.cols());
  if (back.part.pre_logits.weight.empty()) return copy<T>(dhidden.view(), s.features);
  const View<T> d = dhidden;
  const ConstView<T> y = trace.hidden;
  for (size_t r = 0; r < d.rows; ++r)
    for (size_t c = 0; c < d.cols; ++c) d(r, c) *= T{1} - y(r, c) * y(r, c);
  linear_back<T>(back.part.pre_logits, dhidden, back.gradients.pre_logits,
                 {trace.features, s.features});
}

}  // namespace

template <typename T>
void answer(const HeadRule& rule, const HeadPart<const T>& part, HeadTrace<T>& trace) {
  trace.normed.resize(trace.tokens.rows(), trace.tokens.cols());
  normalize<T>(rule.norm, part.final_norm, trace.tokens, trace.normed);
  pool_tokens(rule, part.pool, trace);
  trace.features.resize(rule.images, trace.pooled.cols());
  normalize<T>(rule.norm, part.pooled_norm, trace.pooled, trace.features);
  if (!part.pre_logits.weight.empty()) {
    trace.hidden.resize(rule.images, part.pre_logits.weight.rows);
    linear<T>(part.pre_logits, trace.features, trace.hidden);
    const View<T> hidden = trace.hidden;
    for (size_t r = 0; r < hidden.rows; ++r)
      for (T& value : hidden.row_span(r)) value = std::tanh(value);
  }
  const Numbers<T>& read = classified(part, trace);
  if (part.classifier.weight.empty()) {
    trace.logits.resize(rule.images, read.cols());
    return copy<T>(read.view(), trace.logits);
  }
  trace.logits.resize(rule.images, part.classifier.weight.rows);
  linear<T>(part.classifier, read, trace.logits);
  if (!part.distilled.weight.empty()) answer_distilled(rule, part, trace);
}

template <typename T>
void answer_back(const HeadRule& rule, const HeadBack<T>& back, ConstView<T> dlogits,
                 View<T> dtokens) {
  for (size_t r = 0; r < dtokens.rows; ++r) std::fill_n(dtokens.row(r), dtokens.cols, T{0});
  Numbers<T> half;
  if (!back.part.distilled.weight.empty()) {
    half = halved<T>(dlogits);
    dlogits = half;
    answer_distilled_back<T>(rule, back, dlogits, dtokens);
  }
  classify_back<T>(back, dlogits);
  normalize_back<T>(rule.norm, back.part.pooled_norm, back.trace.pooled, back.scratch.features,
                    back.gradients.pooled_norm);
  pool_tokens_back<T>(rule, back, back.scratch.features, dtokens);
  normalize_back<T>(rule.norm, back.part.final_norm, back.trace.tokens, dtokens,
                    back.gradients.final_norm);
}

template void answer(const HeadRule&, const HeadPart<const float>&, HeadTrace<float>&);
template void answer(const HeadRule&, const HeadPart<const double>&, HeadTrace<double>&);
template void answer_back(const HeadRule&, const HeadBack<float>&, ConstView<float>, View<float>);
template void answer_back(const HeadRule&, const HeadBack<double>&, ConstView<double>,
                          View<double>);

}  // namespace vit::gradient
