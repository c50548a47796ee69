/// Rank-2 views and their one owner. A view never owns and is passed by value; `Matrix` owns.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace vit {

using std::size_t;

/// Rows of `cols` contiguous numbers, `stride` numbers apart: a matrix, or a column range of one.
template <typename T>
struct BasicMatrixView {
  T* data = nullptr;
  size_t rows = 0;
  size_t cols = 0;
  size_t stride = 0;

  constexpr BasicMatrixView() = default;
  constexpr BasicMatrixView(T* data_, size_t rows_, size_t cols_, size_t stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {
    assert(rows_ <= 1 || stride_ >= cols_);
  }
  constexpr BasicMatrixView(T* data_, size_t rows_, size_t cols_)
      : BasicMatrixView(data_, rows_, cols_, cols_) {}

  /// A writable view reads as a constant one.
  constexpr operator BasicMatrixView<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, stride};
  }

  constexpr bool empty() const { return rows == 0 || cols == 0; }
  constexpr T* row(size_t r) const { return data + r * stride; }
  constexpr T& operator()(size_t r, size_t c) const {
    assert(r < rows && c < cols);
    return data[r * stride + c];
  }
  constexpr std::span<T> row_span(size_t r) const { return {row(r), cols}; }

  constexpr BasicMatrixView row_range(size_t first, size_t count) const {
    assert(first + count <= rows);
    return {data + first * stride, count, cols, stride};
  }
  constexpr BasicMatrixView col_range(size_t first, size_t count) const {
    assert(first + count <= cols);
    return {data + first, rows, count, stride};
  }
};

using MatrixView = BasicMatrixView<float>;
using ConstMatrixView = BasicMatrixView<const float>;

/// Owns rows x cols floats, zeroed, the first on a cache line so that vector loads do not straddle.
class Matrix {
 public:
  static constexpr size_t kAlignment = 64;

  Matrix() = default;
  Matrix(size_t rows, size_t cols) : rows_(rows), cols_(cols), data_(allocate(rows * cols)) {}

  Matrix(Matrix&& other) noexcept
      : rows_(std::exchange(other.rows_, 0)),
        cols_(std::exchange(other.cols_, 0)),
        data_(std::move(other.data_)) {}
  Matrix& operator=(Matrix&& other) noexcept {
    rows_ = std::exchange(other.rows_, 0);
    cols_ = std::exchange(other.cols_, 0);
    data_ = std::move(other.data_);
    return *this;
  }

  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }
  size_t size() const { return rows_ * cols_; }
  bool empty() const { return size() == 0; }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }

  MatrixView view() { return {data_.get(), rows_, cols_}; }
  ConstMatrixView view() const { return {data_.get(), rows_, cols_}; }
  operator MatrixView() { return view(); }
  operator ConstMatrixView() const { return view(); }

  float& operator()(size_t r, size_t c) { return view()(r, c); }
  float operator()(size_t r, size_t c) const { return view()(r, c); }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  using Buffer = std::unique_ptr<float[], Free>;

  static Buffer allocate(size_t count);  // zeroed

  size_t rows_ = 0;
  size_t cols_ = 0;
  Buffer data_;
};

/// The same numbers, without gaps between the rows.
Matrix copy_of(ConstMatrixView from);

}  // namespace vit
