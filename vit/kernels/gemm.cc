#include "vit/kernels/gemm.h"

// Clang's -Wpedantic: cblas.h uses C's complex numbers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <cblas.h>
#pragma GCC diagnostic pop

#include <cassert>
#include <mutex>

namespace vit {
namespace {

/// The thread pool is the only level of parallelism: a second one would compete with it, and the
/// number of threads would change the bits of a result. The build links the serial variant of
/// OpenBLAS where there is one, for which this does nothing.
void keep_openblas_single_threaded() {
  [[maybe_unused]] static const bool once = (openblas_set_num_threads(1), true);
}

/// The serial variant is built without the lock around its work space: two calls at once have given
/// wrong numbers.
std::mutex& openblas_mutex() {
  static std::mutex mutex;
  return mutex;
}

blasint narrow(size_t n) {
  return static_cast<blasint>(n);
}

CBLAS_TRANSPOSE order(Transpose transpose) {
  return transpose == Transpose::kYes ? CblasTrans : CblasNoTrans;
}

/// The inner dimension, after a check that all three agree.
template <typename T>
size_t inner_dimension(BasicMatrixView<const T> a, [[maybe_unused]] BasicMatrixView<const T> b,
                       [[maybe_unused]] BasicMatrixView<T> c, const Product& product) {
  const bool a_turned = product.a == Transpose::kYes;
  [[maybe_unused]] const bool b_turned = product.b == Transpose::kYes;
  const size_t inner = a_turned ? a.rows : a.cols;
  assert((a_turned ? a.cols : a.rows) == c.rows);
  assert((b_turned ? b.rows : b.cols) == c.cols);
  assert((b_turned ? b.cols : b.rows) == inner);
  return inner;
}

}  // namespace

void gemm(ConstMatrixView a, ConstMatrixView b, MatrixView c, const Product& product) {
  const size_t inner = inner_dimension(a, b, c, product);
  if (c.empty()) return;
  keep_openblas_single_threaded();
  const std::lock_guard lock(openblas_mutex());
  cblas_sgemm(CblasRowMajor, order(product.a), order(product.b), narrow(c.rows), narrow(c.cols),
              narrow(inner), static_cast<float>(product.alpha), a.data, narrow(a.stride), b.data,
              narrow(b.stride), static_cast<float>(product.beta), c.data, narrow(c.stride));
}

void gemm(BasicMatrixView<const double> a, BasicMatrixView<const double> b,
          BasicMatrixView<double> c, const Product& product) {
  const size_t inner = inner_dimension(a, b, c, product);
  if (c.empty()) return;
  keep_openblas_single_threaded();
  const std::lock_guard lock(openblas_mutex());
  cblas_dgemm(CblasRowMajor, order(product.a), order(product.b), narrow(c.rows), narrow(c.cols),
              narrow(inner), product.alpha, a.data, narrow(a.stride), b.data, narrow(b.stride),
              product.beta, c.data, narrow(c.stride));
}

}  // namespace vit
