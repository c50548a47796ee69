#include "vit/interpret/head_effects.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "vit/model/model.h"

namespace vit::interpret {
namespace {

std::vector<double> log_softmax(std::span<const float> logits) {
  const float highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float x : logits) sum += std::exp(double{x} - double{highest});
  std::vector<double> logs;
  for (const float x : logits) logs.push_back(double{x} - double{highest} - std::log(sum));
  return logs;
}

size_t best_of(std::span<const float> output) {
  return static_cast<size_t>(
      std::distance(output.begin(), std::max_element(output.begin(), output.end())));
}

}  // namespace

HeadEffect compare_outputs(std::span<const float> whole, std::span<const float> without,
                           bool classes) {
  assert(whole.size() == without.size() && !whole.empty());
  const double mean =
      std::accumulate(whole.begin(), whole.end(), 0.0) / static_cast<double>(whole.size());
  double difference = 0.0, spread = 0.0;
  for (size_t i = 0; i < whole.size(); ++i) {
    difference += std::pow(double{whole[i]} - double{without[i]}, 2);
    spread += std::pow(whole[i] - mean, 2);
  }
  HeadEffect effect{.change = spread > 0.0 ? std::sqrt(difference / spread) : 0.0};
  if (!classes) return effect;
  const auto p = log_softmax(whole), q = log_softmax(without);
  for (size_t i = 0; i < p.size(); ++i) effect.divergence += std::exp(p[i]) * (p[i] - q[i]);
  effect.divergence = std::max(effect.divergence, 0.0);
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
      effects.push_back(compare_outputs(whole, runner.resume_without({layer, head}, record),
                                        config.head.classes != 0));
  return effects;
}

}  // namespace vit::interpret
