/// Views as the arguments of the multiply kernels. Internal to vit/kernels and its tests.
#pragma once

#include "vit/kernels/gemm.h"
#include "vit/kernels/isa_kernels.h"

namespace vit {

/// c = alpha · op(a) · op(b) + bias + beta · c; an empty bias is none. The caller sets `panel`.
inline MultiplyCall multiply_call(ConstMatrixView a, ConstMatrixView b, ConstMatrixView bias,
                                  MatrixView c, const Product& product) {
  const bool a_turned = product.a == Transpose::kYes;
  return {.a = a.data,
          .a_stride = a.stride,
          .a_turned = a_turned,
          .b = b.data,
          .b_stride = b.stride,
          .b_turned = product.b == Transpose::kYes,
          .rows = c.rows,
          .inner = a_turned ? a.rows : a.cols,
          .columns = c.cols,
          .alpha = static_cast<float>(product.alpha),
          .beta = static_cast<float>(product.beta),
          .bias = bias.empty() ? nullptr : bias.data,
          .c = c.data,
          .c_stride = c.stride,
          .panel = nullptr};
}

}  // namespace vit
