/// Numbers in a file, seen in place: any number format, any strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/enum_names.h"

namespace vit::weights {

using std::size_t;

enum class DType { kF64, kF32, kF16, kBf16, kI64, kI32, kI16, kI8, kU8, kBool, kQ8_0, kQ4_0 };
constexpr auto enum_names(DType) {
  using enum DType;
  return std::to_array<EnumName<DType>>({{kF64, "f64"},
                                         {kF32, "f32"},
                                         {kF16, "f16"},
                                         {kBf16, "bf16"},
                                         {kI64, "i64"},
                                         {kI32, "i32"},
                                         {kI16, "i16"},
                                         {kI8, "i8"},
                                         {kU8, "u8"},
                                         {kBool, "bool"},
                                         {kQ8_0, "q8_0"},
                                         {kQ4_0, "q4_0"}});
}

using Shape = std::vector<size_t>;

/// A view of stored numbers. Strides count elements, so a transposed, permuted or sliced tensor is
/// again a view. In block formats (kQ8_0, kQ4_0) element i is the (i % 32)-th of block i / 32.
struct Tensor {
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<size_t> strides;
  const std::byte* data = nullptr;
  /// A float for each entry of the first axis, by which its numbers are multiplied; null: none.
  /// Only contiguous kI8 tensors have them.
  const std::byte* row_scales = nullptr;
};

/// One weight of the model: the numbers of its parts, one part after the other, under one shape
/// (q, k and v of a fused layer are three parts). As a matrix it has shape[0] rows, each holding
/// the product of the other axes.
class Weight {
 public:
  Weight() = default;
  Weight(Tensor tensor);  // implicit: a tensor is a weight of one part
  /// Stacked along the first axis; the other axes agree.
  explicit Weight(std::vector<Tensor> parts);
  /// One after the other, whatever their own shapes.
  Weight(std::vector<Tensor> parts, Shape shape);

  const Shape& shape() const { return shape_; }
  const std::vector<Tensor>& parts() const { return parts_; }
  size_t rows() const { return shape_.empty() ? 1 : shape_[0]; }
  size_t cols() const;
  size_t size() const { return rows() * cols(); }

  /// The same numbers under another shape of the same size.
  Weight reshaped(Shape shape) const;

  /// Converts `count` rows from `first` on to floats, cols() apart.
  void read_rows(size_t first, size_t count, float* out) const;
  /// All of them, [size()].
  std::vector<float> numbers() const;

  /// Whether these are integers with a scale per row.
  bool is_int8() const;
  /// One row of such integers as they are stored; its scale is returned.
  float read_int8_row(size_t row, std::int8_t* integers) const;

 private:
  Shape shape_;
  std::vector<Tensor> parts_;
};

/// Converts `count` elements from the `first` on, in row-major order, to floats.
void read_elements(const Tensor& tensor, size_t first, size_t count, float* out);

size_t element_count(const Shape& shape);
/// Bytes that `count` contiguous elements take; block formats count whole blocks.
size_t byte_count(DType dtype, size_t count);
/// Row-major strides.
std::vector<size_t> contiguous_strides(const Shape& shape);

std::string to_string(const Shape& shape);  ///< "[3, 16, 16]"
using vit::to_string;                       // of a DType

}  // namespace vit::weights
