#include "vit/interpret/attention_maps.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "vit/base/error.h"
#include "vit/interpret/query.h"

namespace vit::interpret {
namespace {

/// Divides the attention of a merged token equally among its parts, because the softmax weighted it
/// by their number. `first` is the first token that `from` covers.
void spread(std::span<const float> from, const MergedTokens& merged, size_t first,
            std::span<float> to) {
  for (size_t token = first; token < to.size(); ++token) {
    const size_t source = merged.sources[token];
    to[token] = from[source - first] / merged.sizes[source];
  }
}

/// Attention [H·T', T'] between merged tokens to attention between all original ones, [H·T, T].
void spread_rows(ConstMatrixView from, const MergedTokens& merged, MatrixView to) {
  const size_t tokens = to.cols;
  for (size_t r = 0; r < to.rows; ++r)
    spread(from.row_span(r / tokens * from.cols + merged.sources[r % tokens]), merged, 0,
           to.row_span(r));
}

/// If the pool attends only to patches, the prefix stays zero.
Matrix over_all_tokens(ConstMatrixView pooling, const MergedTokens& merged, size_t tokens) {
  Matrix all(pooling.rows, tokens);
  const bool whole = merged.sizes.empty();
  const size_t first = (whole ? tokens : merged.sizes.size()) - pooling.cols;
  if (whole)
    copy_rows(pooling, all.view().col_range(first, pooling.cols));
  else
    for (size_t r = 0; r < pooling.rows; ++r)
      spread(pooling.row_span(r), merged, first, all.view().row_span(r));
  return all;
}

size_t heads_per_layer(const ModelConfig& config) {
  return config.encoder.heads * config.encoder.branches;
}

/// Callers index and sort by these numbers, so they must be finite.
void check_finite(const AttentionMaps& maps) {
  const auto refuse = [](const std::string& what) {
    fail(what, " is NaN or infinite; the weights are damaged, or the training diverged");
  };
  for (size_t layer = 0; layer < maps.layers; ++layer)
    for (size_t row = 0; row < maps.layer(layer).rows; ++row)
      if (!all_finite(maps.layer(layer).row_span(row)))
        refuse("the attention of layer " + std::to_string(layer));
  if (!all_finite({maps.pooling.data(), maps.pooling.size()})) refuse("the attention of the pool");
  if (!all_finite(maps.output)) refuse("the answer");
}

/// Class layers pool by attention one after the other: the mean of what each gives to the patches.
/// Column 0 is the class token's.
void add_class_layer(ConstMatrixView attention, const MergedTokens& merged, AttentionMaps& maps) {
  const Matrix all =
      over_all_tokens(attention.col_range(1, attention.cols - 1), merged, maps.tokens());
  if (maps.pooling.empty()) maps.pooling = Matrix(all.rows(), all.cols());
  for (size_t i = 0; i < all.size(); ++i) maps.pooling.data()[i] += all.data()[i];
}

}  // namespace

TokenLayout token_layout(const ModelConfig& config) {
  return {.prefix = config.embedding.prefix,
          .grid = config.embedding.grid(),
          .patch_height = config.embedding.patch_height,
          .patch_width = config.embedding.patch_width};
}

std::string token_name(const TokenLayout& layout, size_t token) {
  assert(token < layout.tokens());
  if (token >= layout.first_patch()) {
    const size_t patch = token - layout.first_patch();
    return describe(Query{.kind = QueryKind::kPatch,
                          .row = patch / layout.grid.cols,
                          .col = patch % layout.grid.cols});
  }
  switch (layout.prefix[token]) {
    case PrefixToken::kClass:
      return describe(Query{.kind = QueryKind::kClass});
    case PrefixToken::kDistillation:
      return describe(Query{.kind = QueryKind::kDistillation});
    case PrefixToken::kRegister:
      break;
  }
  const auto before = layout.prefix.begin() + static_cast<std::ptrdiff_t>(token);
  const auto number = std::count(layout.prefix.begin(), before, PrefixToken::kRegister);
  return describe(Query{.kind = QueryKind::kRegister, .index = static_cast<size_t>(number)});
}

bool all_finite(std::span<const float> numbers) {
  return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

AttentionMaps capture(Runner& runner) {
  const Model& model = runner.model();
  AttentionMaps maps;
  maps.layout = token_layout(model.config);
  maps.layers = model.config.encoder.depth;
  maps.heads = heads_per_layer(model.config);
  const size_t rows = maps.heads * maps.tokens();
  maps.weights = Matrix(maps.layers * rows, maps.tokens());

  ModelTaps taps;
  MergedTokens merged;  // before the current layer: each layer merges after its attention
  taps.encoder.attention = [&](size_t layer, ConstMatrixView attention) {
    const MatrixView to = maps.weights.view().row_range(layer * rows, rows);
    if (merged.sizes.empty())
      copy_rows(attention, to);
    else
      spread_rows(attention, merged, to);
  };
  taps.encoder.merged = [&](size_t, const MergedTokens& now) { merged = now; };
  taps.pooling = [&](ConstMatrixView pooling) {
    maps.pooling = over_all_tokens(pooling, merged, maps.tokens());
  };
  taps.class_layer = [&](size_t, ConstMatrixView attention, ConstMatrixView) {
    add_class_layer(attention, merged, maps);
  };
  const std::span<const float> output = runner.logits(&taps);
  if (const size_t layers = model.config.head.class_layers; layers > 1)
    for (size_t i = 0; i < maps.pooling.size(); ++i)
      maps.pooling.data()[i] /= static_cast<float>(layers);
  maps.output.assign(output.begin(), output.end());
  check_finite(maps);
  return maps;
}

std::span<const float> patches_of(const TokenLayout& layout, std::span<const float> tokens) {
  return tokens.subspan(layout.first_patch(), layout.grid.count());
}

double prefix_mass(const TokenLayout& layout, std::span<const float> tokens) {
  double mass = 0.0;
  for (const float weight : tokens.first(layout.first_patch())) mass += weight;
  return mass;
}

}  // namespace vit::interpret
