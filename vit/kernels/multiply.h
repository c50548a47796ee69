/// Matrix products in which both sides change from call to call: what training, token merging and
/// interpretation multiply with. For weights that stay, linear.h packs them once.
#pragma once

#include "vit/kernels/cpu.h"
#include "vit/kernels/gemm.h"

namespace vit {

/// c = alpha · op(a) · op(b) + beta · c, on the calling thread; c overlaps neither. The same bits
/// for a row of c whatever the other rows are. Operands::kBf16 only where has_bf16().
void multiply(ConstMatrixView a, ConstMatrixView b, MatrixView c, const Product& product, Isa isa);
/// The same with a row `bias` [1, columns of c] that is added to every row of c.
void multiply(ConstMatrixView a, ConstMatrixView b, ConstMatrixView bias, MatrixView c,
              const Product& product, Isa isa);

/// Whether this instruction set multiplies numbers of 16 bits.
bool has_bf16(Isa isa);

// In double precision, for tests of gradients: OpenBLAS, which chooses its instructions itself. The
// instruction set is there so that templates call both alike.
void multiply(BasicMatrixView<const double> a, BasicMatrixView<const double> b,
              BasicMatrixView<double> c, const Product& product, Isa isa);
void multiply(BasicMatrixView<const double> a, BasicMatrixView<const double> b,
              BasicMatrixView<const double> bias, BasicMatrixView<double> c, const Product& product,
              Isa isa);

}  // namespace vit
