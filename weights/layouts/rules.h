/// Whose tensor names these are, as a table: raw name on the left, the model's name on the right.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/formats/tensor_file.h"
#include "weights/tensor.h"

namespace vit::weights {

using WeightMap = std::map<std::string, Weight, std::less<>>;

/// How a raw tensor becomes (a part of) a weight; `width` is the model's. Throws an Error without
/// naming the tensor, which the caller adds.
using View = Weight (*)(const Tensor& tensor, size_t width);

/// '#' stands for a number (a block's index) and is carried over, in order; a '*' at the end for
/// anything (".weight", ".bias").
struct Rule {
  std::string_view from;
  std::string_view to;
  View view = nullptr;  ///< null: as it is
  size_t part = 0;      ///< weights of the same name are stacked in this order
};

/// Applies every rule to every raw name that starts with `prefix`. Names no rule knows go to
/// `unused`. A weight that misses a part is an Error; `where` opens its message.
struct Renaming {
  std::string where;
  std::string prefix;
  std::vector<std::string_view> inner_prefixes;  ///< may follow: "vit.", "deit."
  std::span<const Rule> rules;
  std::span<const Rule> block_rules{};  ///< apply as well
  size_t width = 0;
};
WeightMap rename(const TensorMap& tensors, const Renaming& renaming,
                 std::vector<std::string>& unused);

/// `pattern` with the numbers and the tail that `name` has in its places; empty if they differ.
std::string match(std::string_view pattern, std::string_view name, std::string_view to);

/// Views that several layouts share.
Weight transposed(const Tensor& tensor, size_t width);
Weight first_third_of_rows(const Tensor& tensor, size_t width);
Weight last_third_of_rows(const Tensor& tensor, size_t width);
Weight rows_after_first_third(const Tensor& tensor, size_t width);

}  // namespace vit::weights
