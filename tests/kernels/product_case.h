/// Operands of a matrix product: views of wider matrices, filled with random numbers.
#pragma once

#include "tests/support/random.h"
#include "vit/kernels/gemm.h"

namespace vit::test {

struct ProductSizes {
  size_t rows, inner, columns;
};

struct ProductCase {
  ProductCase(const ProductSizes& sizes, const Product& product)
      : turn_a(product.a == Transpose::kYes),
        turn_b(product.b == Transpose::kYes),
        wide_a(random_matrix(turn_a ? sizes.inner : sizes.rows, sizes.rows + sizes.inner + 5, 1)),
        wide_b(random_matrix(turn_b ? sizes.columns : sizes.inner, sizes.inner + sizes.columns + 3,
                             2)),
        wide_c(random_matrix(sizes.rows, sizes.columns + 4, 3)),
        before(random_matrix(sizes.rows, sizes.columns + 4, 3)),
        bias(random_matrix(1, sizes.columns, 4)),
        a(wide_a.view().col_range(2, turn_a ? sizes.rows : sizes.inner)),
        b(wide_b.view().col_range(1, turn_b ? sizes.inner : sizes.columns)),
        c(wide_c.view().col_range(2, sizes.columns)) {}
  ProductCase(const ProductCase&) = delete;
  ProductCase& operator=(const ProductCase&) = delete;

  float left(size_t i, size_t k) const { return turn_a ? a(k, i) : a(i, k); }   ///< op(a)
  float right(size_t k, size_t j) const { return turn_b ? b(j, k) : b(k, j); }  ///< op(b)

  bool turn_a, turn_b;
  Matrix wide_a, wide_b, wide_c;
  Matrix before;  ///< wide_c before the product
  Matrix bias;    ///< [1, columns]
  ConstMatrixView a, b;
  MatrixView c;  ///< columns 2 and following of wide_c
};

}  // namespace vit::test
