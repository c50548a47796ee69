#include "vit/interpret/attention_maps.h"

#include <algorithm>
#include <cassert>

namespace vit::interpret {
namespace {

void copy_rows(ConstMatrixView from, MatrixView to) {
  for (size_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r), from.cols, to.row(r));
}

/// A pool that sees the patches alone leaves the prefix at zero.
Matrix over_all_tokens(ConstMatrixView pooling, size_t tokens) {
  Matrix all(pooling.rows, tokens);
  copy_rows(pooling, all.view().col_range(tokens - pooling.cols, pooling.cols));
  return all;
}

size_t heads_per_layer(const ModelConfig& config) {
  return config.heads * config.branches;
}

}  // namespace

TokenLayout token_layout(const ModelConfig& config) {
  return {.prefix = config.prefix,
          .grid = config.grid(),
          .patch_height = config.patch_height,
          .patch_width = config.patch_width};
}

std::string token_name(const TokenLayout& layout, size_t token) {
  assert(token < layout.tokens());
  if (token >= layout.first_patch()) {
    const size_t patch = token - layout.first_patch();
    return "patch " + std::to_string(patch / layout.grid.cols) + "," +
           std::to_string(patch % layout.grid.cols);
  }
  switch (layout.prefix[token]) {
    case PrefixToken::kClass:
      return "cls";
    case PrefixToken::kDistillation:
      return "distillation";
    case PrefixToken::kRegister:
      break;
  }
  const auto before = layout.prefix.begin() + static_cast<std::ptrdiff_t>(token);
  return "register " +
         std::to_string(std::count(layout.prefix.begin(), before, PrefixToken::kRegister));
}

AttentionMaps capture(const Model& model, ModelWorkspace& workspace) {
  AttentionMaps maps;
  maps.layout = token_layout(model.config);
  maps.layers = model.config.depth;
  maps.heads = heads_per_layer(model.config);
  const size_t rows = maps.heads * maps.tokens();
  maps.weights = Matrix(maps.layers * rows, maps.tokens());
  maps.output.resize(model.config.outputs());

  ModelTaps taps;
  taps.encoder.attention = [&](size_t layer, ConstMatrixView attention) {
    assert(attention.rows == rows && attention.cols == maps.tokens());
    copy_rows(attention, maps.weights.view().row_range(layer * rows, rows));
  };
  taps.pooling = [&](ConstMatrixView pooling) {
    maps.pooling = over_all_tokens(pooling, maps.tokens());
  };
  run(model, workspace, maps.output, &taps);
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
