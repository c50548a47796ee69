#include "vit/gradient/rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "vit/kernels/isa_kernels.h"

namespace vit::gradient {
namespace {

/// One group of columns of one row on its way back through a norm: dy becomes dx.
template <typename T>
struct NormRow {
  const NormPart<T>& norm;
  const T* x;
  T* dy;

  size_t size() const { return norm.weight.value.cols; }
};

// ------------------------------------------------------------------------------------- float

void norm_row(const NormPart<float>& norm, const float* x, float* y) {
  const IsaKernels& kernels = isa_kernels(norm.isa);
  const auto eps = static_cast<float>(norm.eps);
  const ConstMatrixView weight = norm.weight.value;
  if (norm.kind == NormKind::kLayerNorm)
    kernels.layer_norm_row(x, weight.data, norm.bias.value.data, eps, y, weight.cols);
  else
    kernels.rms_norm_row(x, weight.data, eps, y, weight.cols);
}

void norm_row_back(const NormRow<float>& r) {
  const BackwardKernels& kernels = isa_kernels(r.norm.isa).backward;
  const NormBackwardRow row{.x = r.x,
                            .gamma = r.norm.weight.value.data,
                            .dy = r.dy,
                            .eps = static_cast<float>(r.norm.eps),
                            .n = r.size(),
                            .dx = r.dy,
                            .dgamma = r.norm.weight.gradient.data,
                            .dbeta = r.norm.bias.gradient.data};
  r.norm.kind == NormKind::kLayerNorm ? kernels.layer_norm(row) : kernels.rms_norm(row);
}

void activation_row(Activation activation, const float* x, float* y, size_t n, Isa isa) {
  isa_kernels(isa).activation_row(activation, x, y, n);
}

void activation_row_back(Activation activation, const float* x, float* dy, size_t n, Isa isa) {
  isa_kernels(isa).backward.activation(activation, x, dy, dy, n);
}

void softmax_row(double scale, float* x, size_t n, Isa isa) {
  const IsaKernels& kernels = isa_kernels(isa);
  const float sum = kernels.exp_row(x, n, static_cast<float>(scale));
  kernels.scale_row(x, 1.0f / sum, x, n);
}

void softmax_row_back(double scale, const float* p, float* dp, size_t n, Isa isa) {
  isa_kernels(isa).backward.softmax(p, dp, static_cast<float>(scale), dp, n);
}

void add_row(const float* x, const float* factors, float* y, size_t n, Isa isa) {
  isa_kernels(isa).add_row(x, factors, y, n);
}

// ------------------------------------------------------------------------------------ double

struct Statistics {
  double mean = 0.0;
  double scale = 1.0;
};

Statistics statistics_of(const NormPart<double>& norm, const double* x) {
  const size_t n = norm.weight.value.cols;
  const auto count = static_cast<double>(n);
  Statistics s;
  if (norm.kind == NormKind::kLayerNorm) {
    for (size_t i = 0; i < n; ++i) s.mean += x[i];
    s.mean /= count;
  }
  double squares = 0.0;
  for (size_t i = 0; i < n; ++i) squares += (x[i] - s.mean) * (x[i] - s.mean);
  s.scale = 1.0 / std::sqrt(squares / count + norm.eps);
  return s;
}

void norm_row(const NormPart<double>& norm, const double* x, double* y) {
  const Statistics s = statistics_of(norm, x);
  for (size_t i = 0; i < norm.weight.value.cols; ++i)
    y[i] = (x[i] - s.mean) * s.scale * norm.weight.value(0, i) +
           (norm.bias.empty() ? 0.0 : norm.bias.value(0, i));
}

void norm_row_back(const NormRow<double>& r) {
  const Parameter<double>&weight = r.norm.weight, &bias = r.norm.bias;
  const Statistics s = statistics_of(r.norm, r.x);
  const auto count = static_cast<double>(r.size());
  double mean_g = 0.0, mean_gx = 0.0;
  for (size_t i = 0; i < r.size(); ++i) {
    const double normed = (r.x[i] - s.mean) * s.scale, g = r.dy[i] * weight.value(0, i);
    mean_g += g / count;
    mean_gx += g * normed / count;
    if (!weight.gradient.empty()) weight.gradient(0, i) += r.dy[i] * normed;
    if (!bias.gradient.empty()) bias.gradient(0, i) += r.dy[i];
  }
  if (r.norm.kind == NormKind::kRmsNorm) mean_g = 0.0;
  for (size_t i = 0; i < r.size(); ++i)
    r.dy[i] =
        s.scale * (r.dy[i] * weight.value(0, i) - mean_g - (r.x[i] - s.mean) * s.scale * mean_gx);
}

struct Activated {
  double value = 0.0;
  double slope = 1.0;
};

/// x · sigmoid(inner), where inner has the slope `inner_slope`.
Activated sigmoid_weighted(double x, double inner, double inner_slope) {
  const double s = 1.0 / (1.0 + std::exp(-inner));
  return {x * s, s + x * s * (1.0 - s) * inner_slope};
}

Activated activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return {x, 1.0};
    case Activation::kGelu: {
      const double below = 0.5 * std::erfc(-x / std::numbers::sqrt2);
      const double density =
          std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
      return {x * below, below + x * density};
    }
    case Activation::kGeluTanh: {
      const double twice = 2.0 * std::sqrt(2.0 / std::numbers::pi);
      return sigmoid_weighted(x, twice * (x + 0.044715 * x * x * x),
                              twice * (1.0 + 3.0 * 0.044715 * x * x));
    }
    case Activation::kQuickGelu:
      return sigmoid_weighted(x, 1.702 * x, 1.702);
    case Activation::kSilu:
      return sigmoid_weighted(x, x, 1.0);
    case Activation::kRelu:
      return x > 0.0 ? Activated{x, 1.0} : Activated{0.0, 0.0};
  }
  return {x, 1.0};
}

void activation_row(Activation activation, const double* x, double* y, size_t n, Isa) {
  for (size_t i = 0; i < n; ++i) y[i] = activated(activation, x[i]).value;
}

void activation_row_back(Activation activation, const double* x, double* dy, size_t n, Isa) {
  for (size_t i = 0; i < n; ++i) dy[i] *= activated(activation, x[i]).slope;
}

void softmax_row(double scale, double* x, size_t n, Isa) {
  const double highest = *std::max_element(x, x + n);
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += x[i] = std::exp(scale * (x[i] - highest));
  for (size_t i = 0; i < n; ++i) x[i] /= sum;
}

void softmax_row_back(double scale, const double* p, double* dp, size_t n, Isa) {
  double dot = 0.0;
  for (size_t i = 0; i < n; ++i) dot += p[i] * dp[i];
  for (size_t i = 0; i < n; ++i) dp[i] = scale * p[i] * (dp[i] - dot);
}

void add_row(const double* x, const double* factors, double* y, size_t n, Isa) {
  for (size_t i = 0; i < n; ++i) y[i] += factors == nullptr ? x[i] : x[i] * factors[i];
}

}  // namespace

template <typename T>
void normalize(const NormPart<T>& norm, ConstView<T> x, View<T> y) {
  if (norm.weight.empty()) {
    if (x.data != y.data) copy<T>(x, y);
    return;
  }
  for (size_t r = 0; r < x.rows; ++r)
    for (size_t c = 0; c < x.cols; c += norm.weight.value.cols)
      norm_row(norm, x.row(r) + c, y.row(r) + c);
}

template <typename T>
void normalize_back(const NormPart<T>& norm, ConstView<T> x, View<T> dy) {
  if (norm.weight.empty()) return;
  for (size_t r = 0; r < x.rows; ++r)
    for (size_t c = 0; c < x.cols; c += norm.weight.value.cols)
      norm_row_back(NormRow<T>{norm, x.row(r) + c, dy.row(r) + c});
}

template <typename T>
void activate(Activation activation, ConstView<T> x, View<T> y, Isa isa) {
  for (size_t r = 0; r < x.rows; ++r) activation_row(activation, x.row(r), y.row(r), x.cols, isa);
}

template <typename T>
void activate_back(Activation activation, ConstView<T> x, View<T> dy, Isa isa) {
  for (size_t r = 0; r < x.rows; ++r)
    activation_row_back(activation, x.row(r), dy.row(r), x.cols, isa);
}

template <typename T>
void softmax(double scale, View<T> x, Isa isa) {
  for (size_t r = 0; r < x.rows; ++r) softmax_row(scale, x.row(r), x.cols, isa);
}

template <typename T>
void softmax_back(double scale, ConstView<T> p, View<T> dp, Isa isa) {
  for (size_t r = 0; r < p.rows; ++r) softmax_row_back(scale, p.row(r), dp.row(r), p.cols, isa);
}

template <typename T>
void add(ConstView<T> x, ConstView<T> factors, View<T> y, Isa isa) {
  for (size_t r = 0; r < x.rows; ++r) add_row(x.row(r), factors.data, y.row(r), x.cols, isa);
}

template <typename T>
void add_column_sums(ConstView<T> x, View<T> sums, Isa isa) {
  for (size_t r = 0; r < x.rows; ++r)
    add_row(x.row(r), static_cast<const T*>(nullptr), sums.data, x.cols, isa);
}

template void normalize(const NormPart<float>&, ConstView<float>, View<float>);
template void normalize(const NormPart<double>&, ConstView<double>, View<double>);
template void normalize_back(const NormPart<float>&, ConstView<float>, View<float>);
template void normalize_back(const NormPart<double>&, ConstView<double>, View<double>);
template void activate<float>(Activation, ConstView<float>, View<float>, Isa);
template void activate<double>(Activation, ConstView<double>, View<double>, Isa);
template void activate_back<float>(Activation, ConstView<float>, View<float>, Isa);
template void activate_back<double>(Activation, ConstView<double>, View<double>, Isa);
template void softmax<float>(double, View<float>, Isa);
template void softmax<double>(double, View<double>, Isa);
template void softmax_back<float>(double, ConstView<float>, View<float>, Isa);
template void softmax_back<double>(double, ConstView<double>, View<double>, Isa);
template void add<float>(ConstView<float>, ConstView<float>, View<float>, Isa);
template void add<double>(ConstView<double>, ConstView<double>, View<double>, Isa);
template void add_column_sums<float>(ConstView<float>, View<float>, Isa);
template void add_column_sums<double>(ConstView<double>, View<double>, Isa);

}  // namespace vit::gradient
