/// Numbers in a file, seen in place: any number format, any strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vit::weights {

using std::size_t;

enum class DType { kF64, kF32, kF16, kBf16, kI64, kI32, kI16, kI8, kU8, kBool, kQ8_0, kQ4_0 };

using Shape = std::vector<size_t>;

/// A view of stored numbers. Strides count elements, so a transposed, permuted or sliced tensor is
/// again a view. Block formats (kQ8_0, kQ4_0) hold 32 numbers a block and must be contiguous.
struct Tensor {
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<size_t> strides;
  const std::byte* data = nullptr;
};

/// One weight of the model: parts stacked along the first axis (q, k and v of a fused layer, say).
/// As a matrix it has shape[0] rows, each holding the product of the other axes.
class Weight {
 public:
  Weight() = default;
  Weight(Tensor tensor);  // NOLINT: a tensor is a weight of one part
  explicit Weight(std::vector<Tensor> parts);

  const Shape& shape() const { return shape_; }
  const std::vector<Tensor>& parts() const { return parts_; }
  size_t rows() const;
  size_t cols() const;
  size_t size() const { return rows() * cols(); }

  /// Converts `count` rows from `first` on to floats, cols() apart.
  void read_rows(size_t first, size_t count, float* out) const;

 private:
  Shape shape_;
  std::vector<Tensor> parts_;
};

size_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  ///< "[3, 16, 16]"
std::string_view to_string(DType dtype);    ///< "f32", "bf16", "q8_0", …

}  // namespace vit::weights
