#include "vit/model/head.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "vit/model/unit_length.h"

namespace vit {
namespace {

MatrixView as_row(std::span<float> numbers) {
  return {numbers.data(), 1, numbers.size()};
}

void max_of(ConstMatrixView tokens, std::span<float> out) {
  std::copy_n(tokens.row(0), tokens.cols, out.begin());
  for (size_t r = 1; r < tokens.rows; ++r)
    for (size_t c = 0; c < tokens.cols; ++c) out[c] = std::max(out[c], tokens(r, c));
}

void attention_of(const AttentionPool& pool, const HeadInput& seen, const Resources& resources,
                  std::span<float> out) {
  std::vector<float> key_bias(seen.sizes.begin(), seen.sizes.end());
  for (float& size : key_bias) size = std::log(size);
  attend(pool.attention,
         {.tokens = pool.latent,
          .memory = seen.tokens,
          .mask = {.key_bias = key_bias},
          .probabilities = seen.attention},
         resources, as_row(out));
  const MatrixView normed = resources.workspace.normed(1, out.size());
  normalize(pool.norm, as_row(out), normed, resources.execution);
  feed_forward(pool.mlp, normed, resources, as_row(out), {.residual = as_row(out)});
}

/// The part of the input that is pooled: the patches, or all tokens. Where only the class token is
/// needed, there may be no others.
HeadInput pooled_part(const Head& head, const HeadInput& input) {
  const size_t first = head.pool_prefix ? 0 : std::min(head.prefix, input.tokens.rows);
  return {input.tokens.row_range(first, input.tokens.rows - first),
          input.sizes.empty() ? input.sizes : input.sizes.subspan(first), input.attention};
}

void pool_tokens(const Head& head, const HeadInput& input, const Resources& resources,
                 std::span<float> pooled) {
  const ConstMatrixView tokens = input.tokens;
  const HeadInput seen = pooled_part(head, input);
  switch (head.pooling) {
    case Pooling::kClass:
      std::copy_n(tokens.row(0), tokens.cols, pooled.begin());
      return;
    case Pooling::kMean:
      return mean_of(seen.tokens, seen.sizes, pooled);
    case Pooling::kMax:
      return max_of(seen.tokens, pooled);
    case Pooling::kMeanMax: {
      std::vector<float> largest(pooled.size());
      max_of(seen.tokens, largest);
      mean_of(seen.tokens, seen.sizes, pooled);
      for (size_t i = 0; i < pooled.size(); ++i) pooled[i] = 0.5f * (pooled[i] + largest[i]);
      return;
    }
    case Pooling::kAttention:
      return attention_of(*head.attention_pool, seen, resources, pooled);
    case Pooling::kClassAndMean:
      std::copy_n(tokens.row(0), tokens.cols, pooled.begin());
      return mean_of(seen.tokens, seen.sizes, pooled.subspan(tokens.cols));
  }
}

/// The place of a layer's pooled features.
std::span<float> pooled_of(const Head& head, size_t layer, size_t width, HeadScratch& scratch) {
  const size_t each = head.pooling == Pooling::kClassAndMean ? 2 * width : width;
  scratch.pooled.resize(head.layers * each);
  return std::span(scratch.pooled).subspan((layer - head.first_layer) * each, each);
}

/// Normalises, pools and applies the pre-logits; the result is in `scratch`.
std::span<float> pool_and_project(const Head& head, const HeadInput& input,
                                  const Resources& resources, HeadScratch& scratch) {
  const Execution& execution = resources.execution;
  const size_t needed = needed_tokens(head), last_layer = head.first_layer + head.layers - 1;
  const std::span<float> pooled = pooled_of(head, last_layer, input.tokens.cols, scratch);
  if (!head.class_layers.empty()) {
    read_class_token(head, input, resources, pooled);
  } else {
    const MatrixView normed = needed == 0 ? input.tokens : input.tokens.row_range(0, needed);
    normalize(head.final_norm, normed, normed, execution);
    pool_tokens(head, input, resources, pooled);
  }
  normalize(head.pooled_norm, as_row(pooled), as_row(pooled), execution);
  if (head.pre_logits.empty()) return scratch.pooled;

  scratch.hidden.resize(head.pre_logits.out);
  apply(head.pre_logits, as_row(pooled), as_row(scratch.hidden), execution);
  if (head.pre_logits_tanh)
    for (float& value : scratch.hidden) value = std::tanh(value);
  return scratch.hidden;
}

/// What the classifier reads; it is in `scratch`.
std::span<float> pool(const Head& head, const HeadInput& input, const Resources& resources,
                      HeadScratch& scratch) {
  const std::span<float> features = pool_and_project(head, input, resources, scratch);
  if (head.unit_features) scale_to_unit(features);
  return features;
}

}  // namespace

void read_layer(const Head& head, const LayerInput& input, const Resources& resources,
                HeadScratch& scratch) {
  const size_t last_layer = head.first_layer + head.layers - 1;
  if (input.layer < head.first_layer || input.layer >= last_layer) return;
  const size_t needed = needed_tokens(head), width = input.tokens.cols;
  const MatrixView normed =
      resources.workspace.normed(needed == 0 ? input.tokens.rows : needed, width);
  normalize(head.final_norm, input.tokens.row_range(0, normed.rows), normed, resources.execution);
  const std::span<float> pooled = pooled_of(head, input.layer, width, scratch);
  pool_tokens(head, {.tokens = normed, .sizes = input.sizes}, resources, pooled);
  normalize(head.pooled_norm, as_row(pooled), as_row(pooled), resources.execution);
}

void read_class_token(const Head& head, const HeadInput& input, const Resources& resources,
                      std::span<float> out) {
  read_patches(head.class_layers, input.tokens, resources, out,
               input.class_layer == nullptr ? ClassLayerTap{} : *input.class_layer);
  normalize(head.final_norm, as_row(out), as_row(out), resources.execution);
}

void mean_of(ConstMatrixView tokens, std::span<const float> sizes, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  float total = 0.0f;
  for (size_t r = 0; r < tokens.rows; ++r) {
    const float size = sizes.empty() ? 1.0f : sizes[r];
    for (size_t c = 0; c < tokens.cols; ++c) out[c] += size * tokens(r, c);
    total += size;
  }
  for (float& value : out) value /= total;
}

size_t needed_tokens(const Head& head) {
  if (head.pooling != Pooling::kClass || !head.class_layers.empty()) return 0;
  return head.distills ? 2 : 1;
}

void pool_features(const Head& head, const HeadInput& input, const Resources& resources,
                   HeadScratch& scratch, std::span<float> features) {
  const std::span<const float> pooled = pool(head, input, resources, scratch);
  assert(features.size() == pooled.size());
  for (size_t i = 0; i < features.size(); ++i)
    features[i] = head.distills ? 0.5f * (pooled[i] + input.tokens(1, i)) : pooled[i];
}

void answer(const Head& head, const HeadInput& input, const Resources& resources,
            HeadScratch& scratch, std::span<float> output) {
  if (head.classifier.empty()) return pool_features(head, input, resources, scratch, output);
  const Execution& execution = resources.execution;
  const std::span<float> pooled = pool(head, input, resources, scratch);
  apply(head.classifier, as_row(pooled), as_row(output), execution);
  if (!head.distills) return;
  apply(head.distilled, input.tokens.row_range(1, 1), as_row(output), execution,
        {.residual = as_row(output)});
  for (float& value : output) value *= 0.5f;
}

WorkspaceShape workspace_shape(const Head& head, size_t tokens) {
  if (!head.class_layers.empty()) return workspace_shape(head.class_layers, tokens);
  if (!head.attention_pool) return {};
  return larger_of(workspace_shape(head.attention_pool->attention, 1, tokens),
                   workspace_shape(head.attention_pool->mlp, 1));
}

}  // namespace vit
