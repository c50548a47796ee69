#include "weights/layouts/rules.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "vit/base/error.h"
#include "weights/layouts/views.h"

namespace vit::weights {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The parts of one weight, by their place.
using Parts = std::map<size_t, Weight>;

/// The name below the prefixes, or nothing if it is another model's.
std::optional<std::string_view> inner_name(std::string_view name, const Renaming& renaming) {
  if (!name.starts_with(renaming.prefix)) return {};
  name.remove_prefix(renaming.prefix.size());
  for (const auto inner : renaming.inner_prefixes)
    if (name.starts_with(inner)) return name.substr(inner.size());
  return name;
}

Weight view_of(const Tensor& tensor, const Rule& rule, const Renaming& renaming,
               std::string_view name) {
  if (rule.view == nullptr) return tensor;
  try {
    return rule.view(tensor, renaming.width);
  } catch (const Error& error) {
    fail_at(renaming.where, "tensor '", name, "' ", error.what());
  }
}

/// Parts follow one another along the first axis.
Weight stacked(const std::string& name, const Parts& parts, const Renaming& renaming) {
  if (parts.size() == 1 && parts.begin()->first == 0) return parts.begin()->second;
  std::vector<Tensor> tensors;
  Shape shape = parts.begin()->second.shape();
  if (shape.empty()) fail_at(renaming.where, "the parts of '", name, "' are single numbers");
  shape[0] = 0;
  size_t expected = 0;
  for (const auto& [place, weight] : parts) {
    if (place != expected++)
      fail_at(renaming.where, "part ", expected, " of '", name, "' is missing");
    if (weight.shape().size() != shape.size() ||
        !std::equal(shape.begin() + 1, shape.end(), weight.shape().begin() + 1))
      fail_at(renaming.where, "the parts of '", name,
              "' differ: ", to_string(parts.begin()->second.shape()), " and ",
              to_string(weight.shape()));
    shape[0] += weight.rows();
    tensors.insert(tensors.end(), weight.parts().begin(), weight.parts().end());
  }
  return Weight(std::move(tensors), std::move(shape));
}

}  // namespace

std::string match(std::string_view pattern, std::string_view name, std::string_view to) {
  std::vector<std::string_view> numbers;
  std::string_view tail;
  size_t at = 0;
  for (size_t p = 0; p < pattern.size(); ++p) {
    if (pattern[p] == '*') {
      tail = name.substr(at);
      at = name.size();
    } else if (pattern[p] == '#') {
      const size_t begin = at;
      while (at < name.size() && is_digit(name[at])) ++at;
      if (at == begin) return {};
      numbers.push_back(name.substr(begin, at - begin));
    } else {
      if (at >= name.size() || name[at] != pattern[p]) return {};
      ++at;
    }
  }
  if (at != name.size()) return {};

  std::string result;
  size_t next = 0;
  for (const char c : to) {
    if (c == '#')
      result += numbers.at(next++);
    else if (c == '*')
      result += tail;
    else
      result += c;
  }
  return result;
}

WeightMap rename(const TensorMap& tensors, const Renaming& renaming,
                 std::vector<std::string>& unused) {
  std::map<std::string, Parts> assembled;
  for (const auto& entry : tensors) {
    const auto& name = entry.first;  // not structured bindings: Clang 14 cannot capture them
    const auto& tensor = entry.second;
    bool used = false;
    if (const auto inner = inner_name(name, renaming)) {
      const auto apply = [&](const Rule& rule) {
        const std::string to = match(rule.from, *inner, rule.to);
        if (!to.empty())
          used = assembled[to].emplace(rule.part, view_of(tensor, rule, renaming, name)).second;
      };
      std::ranges::for_each(renaming.rules, apply);
      std::ranges::for_each(renaming.block_rules, apply);
    }
    if (!used) unused.push_back(name);
  }
  WeightMap weights;
  for (const auto& [name, parts] : assembled) weights.emplace(name, stacked(name, parts, renaming));
  return weights;
}

Weight transposed(const Tensor& tensor, size_t) {
  if (tensor.shape.size() != 2) fail("has shape ", to_string(tensor.shape), ", expected a matrix");
  return permuted(tensor, {1, 0});
}

Weight first_third_of_rows(const Tensor& tensor, size_t) {
  if (tensor.shape.empty()) fail("has no axes, expected rows of q, k and v");
  return sliced(tensor, 0, 0, tensor.shape[0] / 3);
}

Weight last_third_of_rows(const Tensor& tensor, size_t) {
  if (tensor.shape.empty()) fail("has no axes, expected rows of q, k and v");
  const size_t third = tensor.shape[0] / 3;
  return sliced(tensor, 0, tensor.shape[0] - third, third);
}

Weight rows_after_first_third(const Tensor& tensor, size_t) {
  if (tensor.shape.empty()) fail("has no axes, expected rows of q, k and v");
  const size_t third = tensor.shape[0] / 3;
  return sliced(tensor, 0, third, tensor.shape[0] - third);
}

}  // namespace vit::weights
