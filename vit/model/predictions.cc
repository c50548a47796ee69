#include "vit/model/predictions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vit {

std::vector<float> probabilities_of(std::span<const float> logits, bool independent,
                                    float temperature) {
  std::vector<double> shares(logits.size());
  const double divisor{temperature};
  if (independent) {
    std::ranges::transform(logits, shares.begin(),
                           [&](float x) { return 1.0 / (1.0 + std::exp(-x / divisor)); });
  } else if (!logits.empty()) {
    const double highest{std::ranges::max(logits)};
    std::ranges::transform(logits, shares.begin(),
                           [&](float x) { return std::exp((double{x} - highest) / divisor); });
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
  }
  return {shares.begin(), shares.end()};
}

std::vector<size_t> largest(std::span<const float> numbers, size_t k) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  k = std::min(k, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                    [&](size_t a, size_t b) {
                      return numbers[a] != numbers[b] ? numbers[a] > numbers[b] : a < b;
                    });
  order.resize(k);
  return order;
}

}  // namespace vit
