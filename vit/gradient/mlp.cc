#include "vit/gradient/mlp.h"

namespace vit::gradient {
namespace {

/// activated = activation(gate) · value, where expanded holds gate and value side by side.
template <typename T>
void gate(const MlpPart<T>& part, MlpActivations<T>& kept) {
  const ConstView<T> expanded = kept.expanded;
  const size_t width = expanded.cols / 2;
  kept.gate.resize(expanded.rows, width);
  activate<T>(part.activation, expanded.col_range(0, width), kept.gate, part.expand.isa);
  for (size_t r = 0; r < expanded.rows; ++r) {
    const T* value = expanded.row(r) + width;
    const T* opened = kept.gate.view().row(r);
    T* out = kept.activated.view().row(r);
    for (size_t c = 0; c < width; ++c) out[c] = opened[c] * value[c];
  }
}

/// d.activated to d.expanded.
template <typename T>
void gate_back(const MlpPart<T>& part, const MlpActivations<T>& kept, MlpActivations<T>& d) {
  const ConstView<T> expanded = kept.expanded;
  const size_t width = expanded.cols / 2;
  d.expanded.resize(expanded.rows, expanded.cols);
  const View<T> out = d.expanded;
  for (size_t r = 0; r < expanded.rows; ++r) {
    const T* value = expanded.row(r) + width;
    const T* opened = kept.gate.view().row(r);
    const T* dy = d.activated.view().row(r);
    for (size_t c = 0; c < width; ++c) {
      out.row(r)[c] = dy[c] * value[c];
      out.row(r)[width + c] = dy[c] * opened[c];
    }
  }
  activate_back<T>(part.activation, expanded.col_range(0, width), out.col_range(0, width),
                   part.expand.isa);
}

}  // namespace

template <typename T>
void feed_forward(const MlpPart<T>& part, ConstView<T> x, MlpActivations<T>& kept, View<T> y,
                  bool accumulate) {
  kept.expanded.resize(x.rows, part.expand.weight.value.rows);
  linear<T>(part.expand, x, kept.expanded);
  kept.activated.resize(x.rows, part.contract.linear.weight.value.cols);
  if (part.gated)
    gate(part, kept);
  else
    activate<T>(part.activation, kept.expanded, kept.activated, part.expand.isa);
  project<T>(part.contract, kept.activated, kept.normed, y, accumulate);
}

template <typename T>
void feed_forward_back(const MlpPart<T>& part, const MlpActivations<T>& kept, MlpActivations<T>& d,
                       const Back<T>& back) {
  d.activated.resize(back.dy.rows, kept.activated.cols());
  project_back<T>(part.contract, kept.normed, {back.dy, kept.activated, d.activated});
  if (part.gated)
    gate_back(part, kept, d);
  else
    activate_back<T>(part.activation, kept.expanded, d.activated, part.expand.isa);
  linear_back<T>(part.expand,
                 {part.gated ? d.expanded : d.activated, back.x, back.dx, back.accumulate});
}

template void feed_forward(const MlpPart<float>&, ConstView<float>, MlpActivations<float>&,
                           View<float>, bool);
template void feed_forward(const MlpPart<double>&, ConstView<double>, MlpActivations<double>&,
                           View<double>, bool);
template void feed_forward_back(const MlpPart<float>&, const MlpActivations<float>&,
                                MlpActivations<float>&, const Back<float>&);
template void feed_forward_back(const MlpPart<double>&, const MlpActivations<double>&,
                                MlpActivations<double>&, const Back<double>&);

}  // namespace vit::gradient
