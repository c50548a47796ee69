/// Weights that are not numbers: a training run that diverged, or a damaged file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "weights/tensor.h"

namespace vit::weights {

/// Where a tensor is, for messages.
struct TensorPlace {
  std::string_view file;
  std::string_view tensor;
};

/// The place of the first number that is NaN or infinite; numbers.size() if there is none.
size_t first_not_finite(std::span<const float> numbers);

/// `numbers` are rows of `weight` from `first_row` on, as read_rows() gave them. Throws an Error
/// naming the tensor, the index and the value of the first that is not finite.
void check_finite(const Weight& weight, size_t first_row, std::span<const float> numbers,
                  const TensorPlace& place);

}  // namespace vit::weights
