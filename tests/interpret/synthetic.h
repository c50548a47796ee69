/// Small models, and attention matrices with known contents.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "tests/support/small_config.h"
#include "vit/interpret/attention_maps.h"

namespace vit::test {

inline interpret::TokenLayout layout_of(GridSize grid, size_t registers = 0) {
  interpret::TokenLayout layout{.prefix = {PrefixToken::kClass}, .grid = grid};
  layout.prefix.insert(layout.prefix.end(), registers, PrefixToken::kRegister);
  return layout;
}

inline void normalize_rows(MatrixView m) {
  for (size_t r = 0; r < m.rows; ++r) {
    double sum = 0.0;
    for (const float value : m.row_span(r)) sum += value;
    for (float& value : m.row_span(r)) value = static_cast<float>(value / sum);
  }
}

/// softmax of normal numbers: a head without a pattern.
inline Matrix random_attention(size_t rows, size_t cols, unsigned seed, float spread = 1.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  Matrix m(rows, cols);
  for (size_t i = 0; i < m.size(); ++i) m.data()[i] = std::exp(normal(engine));
  normalize_rows(m);
  return m;
}

/// A random head, a `share` of whose attention goes where `planted(query, key)` says so.
inline Matrix planted_attention(size_t tokens, double share, unsigned seed,
                                const std::function<bool(size_t query, size_t key)>& planted) {
  Matrix m = random_attention(tokens, tokens, seed);
  for (size_t i = 0; i < tokens; ++i) {
    size_t cells = 0;
    for (size_t j = 0; j < tokens; ++j) cells += planted(i, j) ? 1 : 0;
    if (cells == 0) continue;
    for (size_t j = 0; j < tokens; ++j)
      m(i, j) = static_cast<float>((1.0 - share) * m(i, j) +
                                   (planted(i, j) ? share / static_cast<double>(cells) : 0.0));
  }
  return m;
}

inline interpret::AttentionMaps random_maps(const interpret::TokenLayout& layout, size_t layers,
                                            size_t heads, unsigned seed = 1) {
  interpret::AttentionMaps maps;
  maps.layout = layout;
  maps.layers = layers;
  maps.heads = heads;
  maps.weights = random_attention(layers * heads * layout.tokens(), layout.tokens(), seed);
  return maps;
}

}  // namespace vit::test
