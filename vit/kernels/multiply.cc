#include "vit/kernels/multiply.h"

#include <cassert>

#include "vit/kernels/isa_kernels.h"

namespace vit {

void multiply(ConstMatrixView a, ConstMatrixView b, MatrixView c, const Product& product, Isa isa) {
  if (isa == Isa::kBaseline) return gemm(a, b, c, product);
  const bool a_turned = product.a == Transpose::kYes, b_turned = product.b == Transpose::kYes;
  const size_t inner = a_turned ? a.rows : a.cols;
  assert((a_turned ? a.cols : a.rows) == c.rows);
  assert((b_turned ? b.rows : b.cols) == c.cols && (b_turned ? b.cols : b.rows) == inner);
  if (c.empty()) return;
  if (inner == 0) return gemm(a, b, c, product);  // c = beta · c
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
                    .c = c.data,
                    .c_stride = c.stride,
                    .panel = panel.data()});
}

}  // namespace vit
