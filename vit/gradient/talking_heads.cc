#include "vit/gradient/talking_heads.h"

namespace vit::gradient {
namespace {

/// [H·queries, keys] as [H, queries·keys]. The rows lie one after the other.
template <typename E>
BasicMatrixView<E> by_head(BasicMatrixView<E> x, size_t heads) {
  return {x.data, heads, x.rows / heads * x.cols};
}

/// y = weight · x over the heads. In float32 always: a sum of few terms that a softmax follows.
template <typename T>
void mix(const LinearPart<T>& part, ConstView<T> x, View<T> y) {
  const size_t heads = part.weight.value.rows;
  multiply(part.weight.value, by_head(x, heads), by_head(y, heads), {}, part.isa);
}

/// The gradient at y to that of the weight and to dx, that at x.
template <typename T>
void mix_back(const LinearPart<T>& part, ConstView<T> x, ConstView<T> dy, View<T> dx) {
  const size_t heads = part.weight.value.rows;
  if (!part.weight.gradient.empty())
    multiply(by_head(dy, heads), by_head(x, heads), part.weight.gradient,
             {.b = Transpose::kYes, .beta = 1.0}, part.isa);
  multiply(part.weight.value, by_head(dy, heads), by_head(dx, heads), {.a = Transpose::kYes},
           part.isa);
}

template <typename T>
void mix_probabilities(const TalkingPart<T>& part, const Heads<T>& x, GrowingMatrix<T>& mixed) {
  mixed.resize(x.probabilities.rows, x.probabilities.cols);
  mix<T>(part.after, x.probabilities, mixed);
  const View<T> rows = by_head(mixed.view(), x.heads);
  for (size_t h = 0; !part.after.bias.empty() && h < x.heads; ++h)
    for (T& weight : rows.row_span(h)) weight += part.after.bias.value(0, h);
}

template <typename T>
Heads<T> with_probabilities(Heads<T> x, View<T> probabilities) {
  x.probabilities = probabilities;
  return x;
}

}  // namespace

template <typename T>
void weigh(const TalkingPart<T>& part, const Heads<T>& x, View<T> scores, GrowingMatrix<T>& mixed,
           View<T> context) {
  score<T>(with_probabilities<T>(x, scores));
  mix<T>(part.before, scores, x.probabilities);
  softmax<T>(score_scale(x), x.probabilities, x.isa);
  mix_probabilities(part, x, mixed);
  read<T>(with_probabilities<T>(x, mixed), context);
}

template <typename T>
void weigh_back(const TalkingPart<T>& part, const Heads<T>& x, TalkingActivations<T>& kept,
                ConstView<T> dcontext, const Heads<T>& dx, TalkingActivations<T>& d) {
  mix_probabilities(part, x, kept.mixed);  // forward() kept those of its last image
  d.mixed.resize(kept.mixed.rows(), kept.mixed.cols());
  weigh_back<T>(with_probabilities<T>(x, kept.mixed), dcontext, with_probabilities<T>(dx, d.mixed));
  const View<T> dbias = part.after.bias.gradient;
  const ConstView<T> dmixed = by_head(d.mixed.view(), x.heads);
  for (size_t h = 0; !dbias.empty() && h < x.heads; ++h)
    for (const T gradient : dmixed.row_span(h)) dbias(0, h) += gradient;
  mix_back<T>(part.after, x.probabilities, d.mixed, dx.probabilities);
}

template <typename T>
void score_back(const TalkingPart<T>& part, const Heads<T>& x, ConstView<T> scores,
                const Heads<T>& dx, TalkingActivations<T>& d) {
  softmax_back<T>(score_scale(x), x.probabilities, dx.probabilities, x.isa);
  mix_back<T>(part.before, scores, dx.probabilities, d.mixed);
  dot_back<T>(x, with_probabilities<T>(dx, d.mixed));
}

template void weigh(const TalkingPart<float>&, const Heads<float>&, View<float>,
                    GrowingMatrix<float>&, View<float>);
template void weigh(const TalkingPart<double>&, const Heads<double>&, View<double>,
                    GrowingMatrix<double>&, View<double>);
template void weigh_back(const TalkingPart<float>&, const Heads<float>&, TalkingActivations<float>&,
                         ConstView<float>, const Heads<float>&, TalkingActivations<float>&);
template void weigh_back(const TalkingPart<double>&, const Heads<double>&,
                         TalkingActivations<double>&, ConstView<double>, const Heads<double>&,
                         TalkingActivations<double>&);
template void score_back(const TalkingPart<float>&, const Heads<float>&, ConstView<float>,
                         const Heads<float>&, TalkingActivations<float>&);
template void score_back(const TalkingPart<double>&, const Heads<double>&, ConstView<double>,
                         const Heads<double>&, TalkingActivations<double>&);

}  // namespace vit::gradient
