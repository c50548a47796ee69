/// From logits to the most probable classes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace vit {

using std::size_t;

/// Of logits divided by `temperature`: the softmax, or the sigmoid of each where the classes are
/// independent.
std::vector<float> probabilities_of(std::span<const float> logits, bool independent,
                                    float temperature = 1.0f);

/// The indices of the `k` largest numbers, the largest first; ties in the order of their index.
std::vector<size_t> largest(std::span<const float> numbers, size_t k);

}  // namespace vit
