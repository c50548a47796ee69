#include "vit/kernels/attention_kernel.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "vit/kernels/isa_kernels.h"

namespace vit {
namespace {

/// Queries whose scores are alive at once: with 197 keys they take 40 KB, well within L2.
constexpr size_t kQueryBlock = 48;

size_t round_up(size_t n, size_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// One worker's share of the scratch buffer.
struct Buffers {
  float* keys;          // [panel][d][width], keys of one head
  float* scores;        // [kQueryBlock, padded keys]
  float* last_values;   // [keys, width], the value columns that fill no whole panel
  float* last_output;   // [kQueryBlock, width]
  float* inverse_sums;  // [kQueryBlock]
};

struct Plan {
  size_t width;        // of a panel
  size_t padded_keys;  // whole panels
  size_t head_width;
  size_t keys;

  size_t floats() const {
    return padded_keys * head_width + kQueryBlock * padded_keys + keys * width +
           kQueryBlock * width + kQueryBlock;
  }
  Buffers carve(float* p) const {
    Buffers b{};
    b.keys = p;
    b.scores = b.keys + padded_keys * head_width;
    b.last_values = b.scores + kQueryBlock * padded_keys;
    b.last_output = b.last_values + keys * width;
    b.inverse_sums = b.last_output + kQueryBlock * width;
    return b;
  }
};

/// Keys of one head, turned so that a panel holds `width` keys side by side. Missing ones are zero.
void pack_keys(ConstMatrixView keys, size_t width, float* panels) {
  for (size_t first = 0; first < keys.rows; first += width, panels += keys.cols * width) {
    const size_t count = std::min(width, keys.rows - first);
    if (count < width) std::fill_n(panels, keys.cols * width, 0.0f);
    for (size_t c = 0; c < count; ++c) {
      const float* key = keys.row(first + c);
      for (size_t k = 0; k < keys.cols; ++k) panels[k * width + c] = key[k];
    }
  }
}

void add_mask(const AttentionCall& call, size_t head, size_t query, float* scores) {
  const size_t keys = call.keys.rows;
  const AttentionMask& mask = call.mask;
  for (size_t j = 0; j < keys; ++j) scores[j] *= call.scale;
  if (!mask.bias.empty()) {
    const size_t row =
        mask.bias.rows == call.queries.rows ? query : head * call.queries.rows + query;
    const float* bias = mask.bias.row(row);
    for (size_t j = 0; j < keys; ++j) scores[j] += bias[j];
  }
  if (!mask.key_bias.empty())
    for (size_t j = 0; j < keys; ++j) scores[j] += mask.key_bias[j];
  if (mask.causal) {
    const size_t visible = std::min(keys, query + 1 + keys - std::min(keys, call.queries.rows));
    std::fill(scores + visible, scores + keys, -std::numeric_limits<float>::infinity());
  }
}

/// scores · values of one head, normalised, into output [count, dv].
void weigh_values(const IsaKernels& kernels, const Plan& plan, const Buffers& buffers,
                  ConstMatrixView values, MatrixView output) {
  const size_t width = plan.width;
  for (size_t column = 0; column < values.cols; column += width) {
    const bool whole = column + width <= values.cols;
    const size_t count = whole ? width : values.cols - column;
    ProductTile tile{.a = buffers.scores,
                     .a_stride = plan.padded_keys,
                     .rows = output.rows,
                     .b = values.data + column,
                     .b_stride = values.stride,
                     .inner = plan.keys,
                     .row_scale = buffers.inverse_sums,
                     .c = output.data + column,
                     .c_stride = output.stride};
    if (!whole) {
      tile.b = buffers.last_values;
      tile.b_stride = width;
      tile.c = buffers.last_output;
      tile.c_stride = width;
    }
    kernels.product(tile);
    if (!whole)
      for (size_t r = 0; r < output.rows; ++r)
        std::copy_n(buffers.last_output + r * width, count, output.row(r) + column);
  }
}

void copy_last_values(ConstMatrixView values, size_t width, float* out) {
  const size_t column = values.cols / width * width, count = values.cols - column;
  if (count == 0) return;
  std::fill_n(out, values.rows * width, 0.0f);
  for (size_t r = 0; r < values.rows; ++r)
    std::copy_n(values.row(r) + column, count, out + r * width);
}

struct HeadTask {
  size_t head;
  size_t first_query;
  size_t queries;
};

void score_block(const AttentionCall& call, const IsaKernels& kernels, const Plan& plan,
                 const Buffers& buffers, const HeadTask& block) {
  const size_t d = plan.head_width;
  for (size_t panel = 0; panel < plan.padded_keys; panel += plan.width)
    kernels.product({.a = call.queries.row(block.first_query) + block.head * d,
                     .a_stride = call.queries.stride,
                     .rows = block.queries,
                     .b = buffers.keys + panel * d,
                     .b_stride = plan.width,
                     .inner = d,
                     .row_scale = nullptr,
                     .c = buffers.scores + panel,
                     .c_stride = plan.padded_keys});
  const bool masked = call.mask.causal || !call.mask.bias.empty() || !call.mask.key_bias.empty();
  for (size_t r = 0; r < block.queries; ++r) {
    float* scores = buffers.scores + r * plan.padded_keys;
    if (masked) add_mask(call, block.head, block.first_query + r, scores);
    const float sum = kernels.exp_row(scores, plan.keys, masked ? 1.0f : call.scale);
    buffers.inverse_sums[r] = sum > 0.0f ? 1.0f / sum : 0.0f;
  }
}

void attend_head(const AttentionCall& call, const IsaKernels& kernels, const Plan& plan,
                 const Buffers& buffers, const HeadTask& task, MatrixView output,
                 MatrixView probabilities) {
  const size_t key_head = task.head * call.key_heads / call.heads;
  const size_t value_head = task.head * call.value_heads / call.heads;
  const size_t dv = call.value_width();
  const ConstMatrixView values = call.values.col_range(value_head * dv, dv);
  pack_keys(call.keys.col_range(key_head * plan.head_width, plan.head_width), plan.width,
            buffers.keys);
  copy_last_values(values, plan.width, buffers.last_values);

  const size_t end = task.first_query + task.queries;
  for (size_t query = task.first_query; query < end; query += kQueryBlock) {
    const size_t count = std::min(kQueryBlock, end - query);
    score_block(call, kernels, plan, buffers, {task.head, query, count});
    weigh_values(kernels, plan, buffers, values,
                 output.row_range(query, count).col_range(task.head * dv, dv));
    if (probabilities.empty()) continue;
    for (size_t r = 0; r < count; ++r)
      kernels.scale_row(buffers.scores + r * plan.padded_keys, buffers.inverse_sums[r],
                        probabilities.row(task.head * call.queries.rows + query + r), plan.keys);
  }
}

/// Whole heads where each worker gets as many; else parts of heads, at the price of packing the
/// keys of a head once for each.
size_t queries_per_task(const AttentionCall& call, size_t workers) {
  if (call.heads % workers == 0) return call.queries.rows;
  const size_t parts = call.heads >= 4 * workers ? 1 : workers;
  constexpr size_t kWholeTiles = 12;  // a multiple of every instruction set's tile
  return round_up((call.queries.rows + parts - 1) / parts, kWholeTiles);
}

}  // namespace

void AttentionScratch::reserve(size_t workers, size_t floats_per_worker) {
  // A cache line between the workers, so that no two write to the same one.
  const size_t floats = round_up(floats_per_worker, Matrix::kAlignment / sizeof(float));
  if (buffer_.rows() < workers || buffer_.cols() < floats)
    buffer_ = Matrix(std::max(workers, buffer_.rows()), std::max(floats, buffer_.cols()));
}

void attention(const AttentionCall& call, MatrixView output, AttentionScratch& scratch,
               ThreadPool* pool, MatrixView probabilities) {
  assert(call.heads % call.key_heads == 0 && call.heads % call.value_heads == 0);
  assert(call.queries.cols % call.heads == 0 && call.keys.rows == call.values.rows);
  assert(call.keys.cols == call.key_heads * call.head_width());
  assert(output.rows == call.queries.rows && output.cols == call.heads * call.value_width());
  assert(probabilities.empty() || (probabilities.rows == call.heads * call.queries.rows &&
                                   probabilities.cols == call.keys.rows));
  if (call.queries.rows == 0) return;
  const IsaKernels& kernels = isa_kernels(call.isa);
  const Plan plan{.width = kernels.panel_width,
                  .padded_keys = round_up(call.keys.rows, kernels.panel_width),
                  .head_width = call.head_width(),
                  .keys = call.keys.rows};
  const size_t workers = pool == nullptr ? 1 : pool->size();
  scratch.reserve(workers, plan.floats());

  const size_t share = std::max<size_t>(1, queries_per_task(call, workers));
  const size_t shares = (call.queries.rows + share - 1) / share;
  parallel_for(pool, call.heads * shares, [&](size_t index, size_t worker) {
    const size_t first = index % shares * share;
    const HeadTask task{index / shares, first, std::min(share, call.queries.rows - first)};
    attend_head(call, kernels, plan, plan.carve(scratch.of_worker(worker)), task, output,
                probabilities);
  });
}

}  // namespace vit
