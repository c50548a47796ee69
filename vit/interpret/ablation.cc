#include "vit/interpret/ablation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace vit::interpret {
namespace {

void copy(ConstMatrixView from, MatrixView to) {
  for (size_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r), from.cols, to.row(r));
}

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

/// What enters each block: [layers][T, D].
struct Stations {
  std::vector<Matrix> tokens;

  void keep(size_t layer, ConstMatrixView from) {
    if (layer >= tokens.size()) return;
    tokens[layer] = Matrix(from.rows, from.cols);
    copy(from, tokens[layer]);
  }
};

/// The answer from block `first` on, one of whose heads is silent.
void resume(const Model& model, ModelWorkspace& workspace, size_t first, size_t head,
            std::span<float> output) {
  for (size_t layer = first; layer < model.encoder.blocks.size(); ++layer) {
    BlockInput input;
    if (layer == first) input.silenced = {&head, 1};
    forward(model.encoder.blocks[layer], input, workspace.encoder, workspace.tokens);
  }
  answer(model.head, workspace.tokens, workspace.encoder, workspace.head, output);
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

std::vector<HeadEffect> ablate_heads(const Model& model, ModelWorkspace& workspace) {
  const ModelConfig& config = model.config;
  Stations stations{std::vector<Matrix>(config.encoder.depth)};
  ModelTaps taps;
  taps.tokens = [&](ConstMatrixView tokens) { stations.keep(0, tokens); };
  taps.encoder.block = [&](size_t layer, ConstMatrixView tokens) {
    stations.keep(layer + 1, tokens);
  };
  std::vector<float> whole(config.outputs()), without(config.outputs());
  run(model, workspace, whole, &taps);

  std::vector<HeadEffect> effects;
  for (size_t layer = 0; layer < config.encoder.depth; ++layer)
    for (size_t head = 0; head < config.encoder.heads * config.encoder.branches; ++head) {
      copy(stations.tokens[layer], workspace.tokens);
      resume(model, workspace, layer, head, without);
      effects.push_back(compare_outputs(whole, without, config.head.classes != 0));
    }
  return effects;
}

}  // namespace vit::interpret
