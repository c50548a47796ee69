#include "vit/kernels/multiply.h"

#include <cassert>

#include "vit/kernels/isa_kernels.h"

namespace vit {
namespace {

template <typename T>
void multiply_by_openblas(BasicMatrixView<const T> a, BasicMatrixView<const T> b,
                          BasicMatrixView<const T> bias, BasicMatrixView<T> c,
                          const Product& product) {
  gemm(a, b, c, product);
  if (bias.empty()) return;
  for (size_t r = 0; r < c.rows; ++r)
    for (size_t i = 0; i < c.cols; ++i) c(r, i) += bias(0, i);
}

}  // namespace

void multiply(ConstMatrixView a, ConstMatrixView b, ConstMatrixView bias, MatrixView c,
              const Product& product, Isa isa) {
  const bool a_turned = product.a == Transpose::kYes, b_turned = product.b == Transpose::kYes;
  const size_t inner = a_turned ? a.rows : a.cols;
  assert((a_turned ? a.cols : a.rows) == c.rows);
  assert((b_turned ? b.rows : b.cols) == c.cols && (b_turned ? b.cols : b.rows) == inner);
  if (c.empty()) return;
  if (inner == 0) return multiply_by_openblas<float>(a, b, bias, c, product);
  const IsaKernels& kernels = isa_kernels(isa);
  thread_local Matrix panel;
  const size_t needed = kMultiplyInner * kernels.panel_width;
  if (panel.size() < needed) panel = Matrix(1, needed);
  kernels.multiply({.a = a.data,
                    .a_stride = a.stride,
                    .a_turned = a_turned,
                    .b = b.data,
                    .b_stride = b.stride,
                    .b_turned = b_turned,
                    .rows = c.rows,
                    .inner = inner,
                    .columns = c.cols,
                    .alpha = static_cast<float>(product.alpha),
                    .beta = static_cast<float>(product.beta),
                    .bias = bias.empty() ? nullptr : bias.data,
                    .c = c.data,
                    .c_stride = c.stride,
                    .panel = panel.data()});
}

void multiply(ConstMatrixView a, ConstMatrixView b, MatrixView c, const Product& product, Isa isa) {
  multiply(a, b, {}, c, product, isa);
}

void multiply(BasicMatrixView<const double> a, BasicMatrixView<const double> b,
              BasicMatrixView<const double> bias, BasicMatrixView<double> c,
              const Product& product) {
  multiply_by_openblas<double>(a, b, bias, c, product);
}

void multiply(BasicMatrixView<const double> a, BasicMatrixView<const double> b,
              BasicMatrixView<double> c, const Product& product) {
  gemm(a, b, c, product);
}

}  // namespace vit
