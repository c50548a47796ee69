#include "vit/kernels/dots.h"

#include <cassert>

#include "vit/kernels/isa_kernels.h"

namespace vit {
namespace {

template <typename Number>
RowDots<Number> call_of(BasicMatrixView<const Number> rows, std::span<const float> y,
                        std::span<float> dots) {
  assert(rows.cols == y.size() && rows.rows == dots.size());
  return {.x = rows.data,
          .x_stride = rows.stride,
          .rows = rows.rows,
          .n = rows.cols,
          .y = y.data(),
          .dots = dots.data()};
}

}  // namespace

void dot_rows(ConstMatrixView rows, std::span<const float> y, std::span<float> dots, Isa isa) {
  isa_kernels(isa).dot_rows(call_of(rows, y, dots));
}

void dot_rows(ConstHalfView rows, std::span<const float> y, std::span<float> dots, Isa isa) {
  isa_kernels(isa).dot_half_rows(call_of(rows, y, dots));
}

}  // namespace vit
