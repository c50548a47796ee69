#include "vit/gradient/mlp.h"

namespace vit::gradient {
namespace {

template <typename T>
void gate(const MlpRule& rule, MlpTrace<T>& trace) {
  const ConstView<T> expanded = trace.expanded;
  const size_t width = expanded.cols / 2;
  trace.gate.resize(expanded.rows, width);
  trace.activated.resize(expanded.rows, width);
  activate<T>(rule.activation, expanded.col_range(0, width), trace.gate);
  for (size_t r = 0; r < expanded.rows; ++r) {
    const T* value = expanded.row(r) + width;
    const T* opened = trace.gate.view().row(r);
    T* out = trace.activated.view().row(r);
    for (size_t c = 0; c < width; ++c) out[c] = opened[c] * value[c];
  }
}

/// scratch.activated, the gradient at activation(gate) · value, to that at both, side by side.
template <typename T>
View<T> gate_back(const MlpRule& rule, const MlpTrace<T>& trace, MlpScratch<T>& scratch) {
  const ConstView<T> expanded = trace.expanded;
  const size_t width = expanded.cols / 2;
  scratch.expanded.resize(expanded.rows, expanded.cols);
  const View<T> out = scratch.expanded;
  for (size_t r = 0; r < expanded.rows; ++r) {
    const T* value = expanded.row(r) + width;
    const T* opened = trace.gate.view().row(r);
    const T* dy = scratch.activated.view().row(r);
    for (size_t c = 0; c < width; ++c) {
      out.row(r)[c] = dy[c] * value[c];
      out.row(r)[width + c] = dy[c] * opened[c];
    }
  }
  activate_back<T>(rule.activation, expanded.col_range(0, width), out.col_range(0, width));
  return out;
}

}  // namespace

template <typename T>
void feed_forward(const MlpRule& rule, const MlpPart<const T>& part, ConstView<T> x,
                  MlpTrace<T>& trace, View<T> y) {
  trace.expanded.resize(x.rows, part.expand.weight.rows);
  linear<T>(part.expand, x, trace.expanded);
  if (rule.gated) {
    gate(rule, trace);
  } else {
    trace.activated.resize(x.rows, trace.expanded.cols());
    activate<T>(rule.activation, trace.expanded, trace.activated);
  }
  if (part.norm.weight.empty()) return linear<T>(part.contract, trace.activated, y);
  trace.normed.resize(x.rows, trace.activated.cols());
  normalize<T>(rule.norm, part.norm, trace.activated, trace.normed);
  linear<T>(part.contract, trace.normed, y);
}

template <typename T>
void feed_forward_back(const MlpRule& rule, const MlpBack<T>& back, ConstView<T> dy,
                       const Input<T>& input) {
  const MlpTrace<T>& trace = back.trace;
  MlpScratch<T>& scratch = back.scratch;
  scratch.activated.resize(dy.rows, trace.activated.cols());
  const bool normed = !back.part.norm.weight.empty();
  const Numbers<T>& contracted = normed ? trace.normed : trace.activated;
  linear_back<T>(back.part.contract, dy, back.gradients.contract, {contracted, scratch.activated});
  normalize_back<T>(rule.norm, back.part.norm, trace.activated, scratch.activated,
                    back.gradients.norm);
  View<T> expanded = scratch.activated;
  if (rule.gated)
    expanded = gate_back(rule, trace, scratch);
  else
    activate_back<T>(rule.activation, trace.expanded, expanded);
  linear_back<T>(back.part.expand, expanded, back.gradients.expand, input);
}

template void feed_forward(const MlpRule&, const MlpPart<const float>&, ConstView<float>,
                           MlpTrace<float>&, View<float>);
template void feed_forward(const MlpRule&, const MlpPart<const double>&, ConstView<double>,
                           MlpTrace<double>&, View<double>);
template void feed_forward_back(const MlpRule&, const MlpBack<float>&, ConstView<float>,
                                const Input<float>&);
template void feed_forward_back(const MlpRule&, const MlpBack<double>&, ConstView<double>,
                                const Input<double>&);

}  // namespace vit::gradient
