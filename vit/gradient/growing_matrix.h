/// A matrix of any scalar that owns its numbers: activations kept for the backward pass, and
/// gradients.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "vit/base/matrix.h"

namespace vit::gradient {

/// Grows and never shrinks: a smaller batch after a larger one allocates nothing.
template <typename T>
class GrowingMatrix {
 public:
  GrowingMatrix() = default;
  GrowingMatrix(size_t rows, size_t cols) { resize(rows, cols); }

  /// What was there before is lost.
  void resize(size_t rows, size_t cols) {
    rows_ = rows;
    cols_ = cols;
    if (values_.size() < rows * cols) values_.resize(rows * cols);
  }
  void fill(T value) { std::fill_n(values_.begin(), size(), value); }

  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }
  size_t size() const { return rows_ * cols_; }
  bool empty() const { return size() == 0; }

  BasicMatrixView<T> view() { return {values_.data(), rows_, cols_}; }
  BasicMatrixView<const T> view() const { return {values_.data(), rows_, cols_}; }
  operator BasicMatrixView<T>() { return view(); }
  operator BasicMatrixView<const T>() const { return view(); }

 private:
  size_t rows_ = 0;
  size_t cols_ = 0;
  std::vector<T> values_;
};

/// Keeps a template parameter out of deduction, so that `GrowingMatrix<T>` converts to its views.
template <typename T>
using View = BasicMatrixView<std::type_identity_t<T>>;
template <typename T>
using ConstView = BasicMatrixView<const std::type_identity_t<T>>;

template <typename T>
void copy(BasicMatrixView<const T> from, View<T> to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  for (size_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r), from.cols, to.row(r));
}

template <typename T>
void keep(ConstView<T> from, GrowingMatrix<T>& to) {
  to.resize(from.rows, from.cols);
  copy<T>(from, to);
}

template <typename T>
void zero(View<T> x) {
  for (size_t r = 0; r < x.rows; ++r) std::fill_n(x.row(r), x.cols, T{0});
}

}  // namespace vit::gradient
