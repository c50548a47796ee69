#include "vit/encoder/attention.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace vit {
namespace {

/// Where the projections put queries, keys and values: column ranges, never copies.
struct Projections {
  MatrixView queries, keys, values;
};

Projections project_self(const Attention& a, const AttentionInput& input,
                         const Resources& resources) {
  const ConstMatrixView tokens = input.tokens;
  const Execution& execution = resources.execution;
  const MatrixView qkv = resources.workspace.qkv(tokens.rows, a.qkv.out);
  const size_t q = a.query_width(), k = a.key_width();
  const size_t needed = input.needed_tokens == 0 ? tokens.rows : input.needed_tokens;
  const MatrixView complete = qkv.row_range(0, needed);
  apply(a.qkv, tokens.row_range(0, needed), complete, execution);
  if (const size_t others = tokens.rows - needed; others > 0)
    apply_from(a.qkv, q, tokens.row_range(needed, others), qkv.row_range(needed, others),
               execution);
  return {complete.col_range(0, q), qkv.col_range(q, k), qkv.col_range(q + k, k)};
}

Projections project_cross(const Attention& a, const AttentionInput& input,
                          const Resources& resources) {
  const Execution& execution = resources.execution;
  const MatrixView queries = resources.workspace.qkv(input.tokens.rows, a.query.out);
  const MatrixView memory = resources.workspace.memory(input.memory.rows, a.key_value.out);
  apply(a.query, input.tokens, queries, execution);
  apply(a.key_value, input.memory, memory, execution);
  const size_t k = a.key_width();
  return {queries, memory.col_range(0, k), memory.col_range(k, k)};
}

/// Queries and keys of patches. Where few queries are needed, these are the first ones.
void rotate_patches(const Rotary& rotary, const Projections& p, const Execution& execution) {
  const size_t prefix = rotary.prefix, d = rotary.head_width;
  const auto patches = [&](MatrixView x) {
    const size_t first = std::min(prefix, x.rows);
    return x.row_range(first, x.rows - first);
  };
  if (p.queries.rows == p.keys.rows) {  // side by side: in one pass
    const MatrixView both{p.queries.data, p.queries.rows, p.queries.cols + p.keys.cols,
                          p.queries.stride};
    return rotate(rotary.rotation(), d, patches(both), execution);
  }
  rotate(rotary.rotation(), d, patches(p.queries), execution);
  rotate(rotary.rotation(), d, patches(p.keys), execution);
}

/// wide: [T, 2H·d] holds for each head the outputs of its two softmaxes; they become one in place.
MatrixView combine(const Differential& differential, size_t heads, MatrixView wide,
                   const Execution& execution) {
  const size_t width = wide.cols / (2 * heads);
  for (size_t r = 0; r < wide.rows; ++r)
    for (size_t h = 0; h < heads; ++h) {
      const float* first = wide.row(r) + 2 * h * width;
      float* out = wide.row(r) + h * width;
      for (size_t c = 0; c < width; ++c) out[c] = first[c] - differential.lambda * first[width + c];
    }
  MatrixView context = wide.col_range(0, heads * width);
  normalize_groups(differential.norm, context, execution);
  for (size_t r = 0; r < context.rows; ++r)
    for (float& value : context.row_span(r)) value *= 1.0f - differential.initial;
  return context;
}

/// Rows of the pairs of softmaxes [2H·T, keys] to those of the heads [H·T, keys].
void combine_probabilities(const Differential& differential, size_t heads, MatrixView pairs,
                           MatrixView out) {
  const size_t queries = out.rows / heads;
  for (size_t h = 0; h < heads; ++h)
    for (size_t i = 0; i < queries; ++i) {
      const float* first = pairs.row(2 * h * queries + i);
      const float* second = pairs.row((2 * h + 1) * queries + i);
      for (size_t j = 0; j < out.cols; ++j)
        out(h * queries + i, j) = first[j] - differential.lambda * second[j];
    }
}

void clear_heads(const AttentionInput& input, size_t heads, MatrixView context) {
  const size_t width = context.cols / heads;
  for (const size_t head : input.disabled_heads) {
    if (head < input.first_head || head - input.first_head >= heads) continue;
    const MatrixView own = context.col_range((head - input.first_head) * width, width);
    for (size_t r = 0; r < own.rows; ++r) std::ranges::fill(own.row_span(r), 0.0f);
  }
}

AttentionCall make_call(const Attention& a, const Projections& p, const AttentionMask& mask,
                        Isa isa) {
  const size_t pairs = a.differential ? 2 : 1;
  const size_t width = p.queries.cols / (a.heads * pairs);
  return {.queries = p.queries,
          .keys = p.keys,
          .values = p.values,
          .heads = a.heads * pairs,
          .key_heads = a.key_value_heads * pairs,
          .value_heads = a.key_value_heads,
          .scale = 1.0f / (std::sqrt(static_cast<float>(width)) * a.temperature),
          .mask = mask,
          .offsets = a.offsets.get(),
          .isa = isa};
}

/// The heads' outputs side by side: [T, H·d].
MatrixView weigh(const Attention& a, const AttentionCall& call, MatrixView probabilities,
                 const Resources& resources) {
  auto& [workspace, execution] = resources;
  const size_t rows = call.queries.rows;
  MatrixView context = workspace.context(rows, call.heads * call.value_width());
  if (!a.talking.empty()) {
    attention(a.talking, call, context, workspace.attention, execution.pool, probabilities);
    return context;
  }
  if (!a.differential) {
    attention(call, context, workspace.attention, execution.pool, probabilities);
    return context;
  }
  MatrixView pairs;
  if (!probabilities.empty()) pairs = workspace.probabilities(call.heads * rows, call.keys.rows);
  attention(call, context, workspace.attention, execution.pool, pairs);
  if (!pairs.empty()) combine_probabilities(*a.differential, a.heads, pairs, probabilities);
  return combine(*a.differential, a.heads, context, execution);
}

}  // namespace

void attend(const Attention& a, const AttentionInput& input, const Resources& resources,
            MatrixView y, const Epilogue& epilogue) {
  const Execution& execution = resources.execution;
  assert(a.crosses() == !input.memory.empty());
  assert(input.needed_tokens == 0 || (!a.crosses() && !input.mask.causal));
  assert(input.needed_tokens == 0 || input.mask.bias.empty() ||
         input.mask.bias.rows == input.tokens.rows);
  const Projections p =
      a.crosses() ? project_cross(a, input, resources) : project_self(a, input, resources);
  normalize_groups(a.query_norm, p.queries, execution);
  normalize_groups(a.key_norm, p.keys, execution);
  if (a.rotary != nullptr) rotate_patches(*a.rotary, p, execution);

  AttentionMask mask = input.mask;
  if (input.needed_tokens != 0 && !mask.bias.empty())
    mask.bias = mask.bias.row_range(0, input.needed_tokens);
  AttentionCall call = make_call(a, p, mask, execution.isa);
  if (input.cache != nullptr) {
    input.cache->append(p.keys, p.values);
    call.keys = input.cache->keys();
    call.values = input.cache->values();
  }
  const MatrixView context = weigh(a, call, input.probabilities, resources);
  clear_heads(input, a.heads, context);
  normalize(a.output_norm, context, context, execution);
  apply(a.project, context, y, execution, epilogue);
}

ConstMatrixView last_keys(const Attention& a, size_t tokens, Workspace& workspace) {
  assert(!a.crosses());
  return workspace.qkv(tokens, a.qkv.out).col_range(a.query_width(), a.key_width());
}

WorkspaceShape workspace_shape(const Attention& a, size_t tokens, size_t memory) {
  const size_t width = a.project.out;
  return {.tokens = tokens,
          .memory = memory,
          .width = width,
          .qkv = a.crosses() ? std::max(a.query.out, a.key_value.out) : a.qkv.out,
          .context = a.query_width() * (a.differential ? 2 : 1),
          .hidden = 0};
}

}  // namespace vit
