/// General matrix product through OpenBLAS, for interpretation and tests: one call at a time in the
/// whole process. The layers of a running model use linear.h, training uses multiply.h.
#pragma once

#include "vit/base/matrix.h"

namespace vit {

enum class Transpose { kNo, kYes };

/// c = alpha · a · op(b) + beta · c, on the calling thread. Strided views are read in place.
void gemm(ConstMatrixView a, ConstMatrixView b, Transpose transpose_b, MatrixView c,
          float alpha = 1.0f, float beta = 0.0f);

/// What numbers are rounded to before they are multiplied; sums are floats.
enum class Operands { kF32, kBf16 };

/// c = alpha · op(a) · op(b) + beta · c.
struct Product {
  Transpose a = Transpose::kNo;
  Transpose b = Transpose::kNo;
  double alpha = 1.0;
  double beta = 0.0;
  Operands operands = Operands::kF32;  ///< of multiply() on floats; others ignore it
};
void gemm(ConstMatrixView a, ConstMatrixView b, MatrixView c, const Product& product);
/// The same in double precision, for tests of gradients.
void gemm(BasicMatrixView<const double> a, BasicMatrixView<const double> b,
          BasicMatrixView<double> c, const Product& product);

}  // namespace vit
