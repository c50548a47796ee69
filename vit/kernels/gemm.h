/// General matrix product through OpenBLAS: the portable path, and what training and tests use.
#pragma once

#include "vit/base/matrix.h"

namespace vit {

enum class Transpose { kNo, kYes };

/// c = alpha · a · op(b) + beta · c, on the calling thread. Strided views are read in place.
void gemm(ConstMatrixView a, ConstMatrixView b, Transpose transpose_b, MatrixView c,
          float alpha = 1.0f, float beta = 0.0f);

}  // namespace vit
