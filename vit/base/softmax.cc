#include "vit/base/softmax.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace vit {

double softmax_in_double(std::span<const float> logits, std::span<double> probabilities) {
  assert(!logits.empty() && logits.size() == probabilities.size());
  const double highest = *std::ranges::max_element(logits);
  double total = 0.0;
  for (std::size_t i = 0; i < logits.size(); ++i)
    total += probabilities[i] = std::exp(double{logits[i]} - highest);
  for (double& probability : probabilities) probability /= total;
  return std::log(total) + highest;
}

}  // namespace vit
