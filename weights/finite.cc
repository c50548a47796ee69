#include "weights/finite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "vit/base/error.h"

namespace vit::weights {
namespace {

/// The index of each axis, of the element that stands at `at` in row-major order.
Shape index_of(size_t at, const Shape& shape) {
  Shape index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; at /= shape[axis]) index[axis] = at % shape[axis];
  return index;
}

/// Without a branch per number, so that the compiler uses vectors: loading a model scans every
/// weight. An exponent of ones, which NaN and infinity have, carries into the sign bit.
bool all_finite(std::span<const float> numbers) {
  constexpr std::uint32_t kExponent = 0x7f800000, kLowestOfExponent = 0x00800000;
  std::uint32_t carries = 0;
  for (const float number : numbers)
    carries |= (std::bit_cast<std::uint32_t>(number) & kExponent) + kLowestOfExponent;
  return carries < 0x80000000;
}

}  // namespace

size_t first_not_finite(std::span<const float> numbers) {
  if (all_finite(numbers)) return numbers.size();
  const auto found = std::ranges::find_if(numbers, [](float x) { return !std::isfinite(x); });
  return static_cast<size_t>(found - numbers.begin());
}

void check_finite(const Weight& weight, size_t first_row, std::span<const float> numbers,
                  const TensorPlace& place) {
  const size_t at = first_not_finite(numbers);
  if (at == numbers.size()) return;
  fail_at(place.file, "tensor '", place.tensor, "' holds ", numbers[at], " at ",
          to_string(index_of(first_row * weight.cols() + at, weight.shape())),
          ", expected finite numbers; the training run diverged, or the file is damaged");
}

}  // namespace vit::weights
