#include "vit/kernels/gemm.h"

#include <cblas.h>

#include <cassert>

namespace vit {
namespace {

/// The workers are ours: a second level of threads below them would only get in their way, and the
/// number of threads would change the bits of a result. Said to OpenBLAS once, before its first
/// product.
void keep_openblas_single_threaded() {
  [[maybe_unused]] static const bool once = (openblas_set_num_threads(1), true);
}

}  // namespace

void gemm(ConstMatrixView a, ConstMatrixView b, Transpose transpose_b, MatrixView c, float alpha,
          float beta) {
  const bool transposed = transpose_b == Transpose::kYes;
  assert(a.rows == c.rows && (transposed ? b.rows : b.cols) == c.cols &&
         a.cols == (transposed ? b.cols : b.rows));
  if (c.empty()) return;
  keep_openblas_single_threaded();
  const auto narrow = [](size_t n) { return static_cast<blasint>(n); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, narrow(c.rows),
              narrow(c.cols), narrow(a.cols), alpha, a.data, narrow(a.stride), b.data,
              narrow(b.stride), beta, c.data, narrow(c.stride));
}

}  // namespace vit
