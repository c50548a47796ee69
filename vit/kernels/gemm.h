/// General matrix product through OpenBLAS, one call at a time in the whole process: in double
/// precision for tests of gradients, in single precision for comparison with our own kernels. The
/// layers of a running model use linear.h; training, merging and interpretation use multiply.h.
#pragma once

#include "vit/base/matrix.h"

namespace vit {

enum class Transpose { kNo, kYes };

/// What numbers are rounded to before they are multiplied; sums are floats.
enum class Operands { kF32, kBf16 };

/// c = alpha · op(a) · op(b) + beta · c, on the calling thread. Strided views are read in place.
struct Product {
  Transpose a = Transpose::kNo;
  Transpose b = Transpose::kNo;
  double alpha = 1.0;
  double beta = 0.0;
  Operands operands = Operands::kF32;  ///< of multiply() on floats; others ignore it
};
void gemm(ConstMatrixView a, ConstMatrixView b, MatrixView c, const Product& product = {});
void gemm(BasicMatrixView<const double> a, BasicMatrixView<const double> b,
          BasicMatrixView<double> c, const Product& product = {});

}  // namespace vit
