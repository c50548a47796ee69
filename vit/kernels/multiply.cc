#include "vit/kernels/multiply.h"

#include <cassert>

#include "vit/kernels/isa_kernels.h"
#include "vit/kernels/multiply_call.h"

namespace vit {
namespace {

template <typename T>
void add_to_rows(BasicMatrixView<const T> bias, BasicMatrixView<T> c) {
  for (size_t r = 0; r < c.rows && !bias.empty(); ++r)
    for (size_t i = 0; i < c.cols; ++i) c(r, i) += bias(0, i);
}

/// c = beta · c, for a product of nothing. As in BLAS, what c held does not count where beta is 0.
void scale(MatrixView c, double beta) {
  const auto factor = static_cast<float>(beta);
  for (size_t r = 0; r < c.rows; ++r)
    for (float& value : c.row_span(r)) value = factor == 0.0f ? 0.0f : factor * value;
}

/// At least `count` numbers that this thread may overwrite, on a multiple of 64 bytes.
float* scratch(size_t count) {
  thread_local Matrix numbers;
  if (numbers.size() < count) numbers = Matrix(1, count);
  return numbers.data();
}

/// Both sides of a product in tiles of 16 bits, in floats: some rows of the left one, all columns
/// of the right one.
size_t bf16_scratch(const MultiplyCall& call) {
  const size_t columns = (call.columns + 15) / 16 * 16;
  return (kBf16Rows + columns) * kBf16Inner * sizeof(Bf16) / sizeof(float);
}

}  // namespace

bool has_bf16(Isa isa) {
  return isa_kernels(isa).multiply_bf16 != nullptr;
}

void multiply(ConstMatrixView a, ConstMatrixView b, ConstMatrixView bias, MatrixView c,
              const Product& product, Isa isa) {
  MultiplyCall call = multiply_call(a, b, bias, c, product);
  assert((call.a_turned ? a.cols : a.rows) == c.rows);
  assert((call.b_turned ? b.rows : b.cols) == c.cols);
  assert((call.b_turned ? b.cols : b.rows) == call.inner);
  if (c.empty()) return;
  if (call.inner == 0) {
    scale(c, product.beta);
    return add_to_rows<float>(bias, c);
  }
  const IsaKernels& kernels = isa_kernels(isa);
  if (product.operands == Operands::kBf16) {
    assert(kernels.multiply_bf16 != nullptr);
    call.panel = scratch(bf16_scratch(call));
    return kernels.multiply_bf16(call);
  }
  call.panel = scratch(kMultiplyInner * kernels.panel_width);
  kernels.multiply(call);
}

void multiply(ConstMatrixView a, ConstMatrixView b, MatrixView c, const Product& product, Isa isa) {
  multiply(a, b, {}, c, product, isa);
}

void multiply(BasicMatrixView<const double> a, BasicMatrixView<const double> b,
              BasicMatrixView<const double> bias, BasicMatrixView<double> c, const Product& product,
              Isa) {
  gemm(a, b, c, product);
  add_to_rows<double>(bias, c);
}

void multiply(BasicMatrixView<const double> a, BasicMatrixView<const double> b,
              BasicMatrixView<double> c, const Product& product, Isa) {
  gemm(a, b, c, product);
}

}  // namespace vit
