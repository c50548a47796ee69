#include "vit/interpret/head_effects.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "vit/model/model.h"

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

/// The tokens that enter each block: [layers][T, D].
struct BlockInputs {
  std::vector<Matrix> tokens;

  void keep(size_t layer, ConstMatrixView from) {
    if (layer >= tokens.size()) return;
    tokens[layer] = Matrix(from.rows, from.cols);
    copy(from, tokens[layer]);
  }
};

/// The output from block `id.layer` on, given the tokens that enter it, with one head disabled.
void run_without(Runner& runner, HeadId id, const BlockInputs& inputs, std::span<float> output) {
  const Model& model = runner.model();
  ModelWorkspace& workspace = runner.workspace();
  const Resources resources{workspace.encoder, runner.execution()};
  std::vector<std::vector<size_t>> disabled(model.encoder.blocks.size());
  disabled[id.layer] = {id.head};
  const auto read = [&](size_t layer, ConstMatrixView tokens) {
    read_layer(model.head, {.layer = layer, .tokens = tokens}, resources, workspace.head);
  };
  // What an earlier run left there of these layers was without a head of theirs.
  for (size_t layer = 0; layer < id.layer; ++layer) read(layer, inputs.tokens[layer + 1]);
  copy(inputs.tokens[id.layer], workspace.tokens);
  const MatrixView tokens = encode(model.encoder, workspace.tokens, resources, nullptr,
                                   {.needed_tokens = needed_tokens(model.head),
                                    .disabled_heads = disabled,
                                    .read_layer = read,
                                    .first_layer = id.layer});
  answer(model.head, {tokens}, resources, workspace.head, output);
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
  assert(!runner.workspace().merge);
  const ModelConfig& config = runner.model().config;
  BlockInputs inputs{std::vector<Matrix>(config.encoder.depth)};
  ModelTaps taps;
  taps.tokens = [&](ConstMatrixView tokens) { inputs.keep(0, tokens); };
  taps.encoder.block = [&](size_t layer, ConstMatrixView tokens) {
    inputs.keep(layer + 1, tokens);
  };
  const std::span<const float> output = runner.logits(&taps);
  const std::vector<float> whole(output.begin(), output.end());

  std::vector<float> without(whole.size());
  std::vector<HeadEffect> effects;
  for (size_t layer = 0; layer < config.encoder.depth; ++layer)
    for (size_t head = 0; head < config.encoder.heads * config.encoder.branches; ++head) {
      run_without(runner, {layer, head}, inputs, without);
      effects.push_back(compare_outputs(whole, without, config.head.classes != 0));
    }
  return effects;
}

}  // namespace vit::interpret
