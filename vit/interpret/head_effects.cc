#include "vit/interpret/head_effects.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "vit/base/softmax.h"
#include "vit/model/model.h"

namespace vit::interpret {
namespace {

/// Of classes that exclude each other.
double divergence_of_softmax(std::span<const float> whole, std::span<const float> without) {
  std::vector<double> p(whole.size()), q(whole.size());
  const double log_p = softmax_in_double(whole, p), log_q = softmax_in_double(without, q);
  double sum = 0.0;
  for (size_t i = 0; i < p.size(); ++i)
    sum += p[i] * ((double{whole[i]} - log_p) - (double{without[i]} - log_q));
  return sum;
}

/// log(1 + exp(x)), so that log sigmoid(x) is -softplus(-x).
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// Of independent classes, each of which is true or not.
double divergence_of_sigmoids(std::span<const float> whole, std::span<const float> without) {
  double sum = 0.0;
  for (size_t i = 0; i < whole.size(); ++i) {
    const double x = whole[i], y = without[i], p = 1.0 / (1.0 + std::exp(-x));
    sum += p * (softplus(-y) - softplus(-x)) + (1.0 - p) * (softplus(y) - softplus(x));
  }
  return sum;
}

size_t best_of(std::span<const float> output) {
  return static_cast<size_t>(
      std::distance(output.begin(), std::max_element(output.begin(), output.end())));
}

}  // namespace

HeadEffect compare_outputs(std::span<const float> whole, std::span<const float> without,
                           const HeadConfig& head) {
  assert(whole.size() == without.size() && !whole.empty());
  const double mean =
      std::accumulate(whole.begin(), whole.end(), 0.0) / static_cast<double>(whole.size());
  double difference = 0.0, spread = 0.0;
  for (size_t i = 0; i < whole.size(); ++i) {
    difference += std::pow(double{whole[i]} - double{without[i]}, 2);
    spread += std::pow(whole[i] - mean, 2);
  }
  HeadEffect effect{.change = spread > 0.0 ? std::sqrt(difference / spread) : 0.0};
  if (head.classes == 0) return effect;
  const double divergence = head.multi_label ? divergence_of_sigmoids(whole, without)
                                             : divergence_of_softmax(whole, without);
  effect.divergence = std::max(divergence, 0.0);
  effect.flips = best_of(whole) != best_of(without);
  return effect;
}

std::vector<HeadEffect> measure_heads(Runner& runner) {
  const ModelConfig& config = runner.model().config;
  ForwardRecord record;
  const std::span<const float> output = runner.logits(record);
  const std::vector<float> whole(output.begin(), output.end());

  std::vector<HeadEffect> effects;
  for (size_t layer = 0; layer < config.encoder.depth; ++layer)
    for (size_t head = 0; head < config.encoder.heads * config.encoder.branches; ++head)
      effects.push_back(
          compare_outputs(whole, runner.resume_without({layer, head}, record), config.head));
  return effects;
}

}  // namespace vit::interpret
