#include "vit/kernels/gemm.h"

#include <cblas.h>

#include <cassert>

namespace vit {

void gemm(ConstMatrixView a, ConstMatrixView b, Transpose transpose_b, MatrixView c, float alpha,
          float beta) {
  const bool transposed = transpose_b == Transpose::kYes;
  assert(a.rows == c.rows && (transposed ? b.rows : b.cols) == c.cols &&
         a.cols == (transposed ? b.cols : b.rows));
  if (c.empty()) return;
  const auto narrow = [](size_t n) { return static_cast<blasint>(n); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, narrow(c.rows),
              narrow(c.cols), narrow(a.cols), alpha, a.data, narrow(a.stride), b.data,
              narrow(b.stride), beta, c.data, narrow(c.stride));
}

}  // namespace vit
