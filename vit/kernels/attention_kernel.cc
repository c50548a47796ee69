#include "vit/kernels/attention_kernel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "vit/base/owners.h"
#include "vit/base/round.h"
#include "vit/kernels/isa_kernels.h"

namespace vit {
namespace {

/// Scores that are alive at once, in floats: up to some 500 keys they stay in L1.
constexpr size_t kScores = 6 * 1024;

/// One worker's share of the scratch buffer.
struct Buffers {
  float* keys;          // [panel][d][width], keys of one head
  float* values;        // [panel][key][width], values of one head
  float* scores;        // [query block, padded keys]
  float* last_output;   // [query block, width]
  float* inverse_sums;  // [query block]
  float* score_sums;    // [query block, width / 2]
  float* score_bases;   // [query block]
  float* score_starts;  // [padded keys + kPiece]
  float* offsets;       // of one head, divided by the scale, and kPiece more
};

/// Floats copied at once: pieces of a fixed size need no call each.
constexpr size_t kPiece = 8;
void copy_piece(const float* from, float* to) {
  std::memcpy(to, from, kPiece * sizeof(float));
}

struct Plan {
  size_t width;  // of a panel
  size_t head_width;
  size_t value_width;
  size_t keys;
  size_t padded_keys;    // whole panels
  size_t padded_values;  // whole panels
  size_t query_block;    // queries whose scores are alive at once
  size_t offsets;        // numbers of one head's offset bias

  Plan(const AttentionCall& call, size_t panel_width)
      : width(panel_width),
        head_width(call.head_width()),
        value_width(call.value_width()),
        keys(call.keys.rows),
        padded_keys(round_up(keys, width)),
        padded_values(round_up(value_width, width)),
        query_block(std::max(kScores / std::max<size_t>(1, padded_keys) / kWholeTiles, size_t{1}) *
                    kWholeTiles),
        offsets(call.offsets == nullptr ? 0 : call.offsets->offsets.cols()) {}

  size_t floats() const {
    return padded_keys * head_width + keys * padded_values + query_block * padded_keys +
           query_block * width + query_block * width / 2 + 2 * query_block + padded_keys + kPiece +
           offsets + kPiece;
  }
  Buffers carve(float* p) const {
    Buffers b{};
    b.keys = p;
    b.values = b.keys + padded_keys * head_width;
    b.scores = b.values + keys * padded_values;
    b.last_output = b.scores + query_block * padded_keys;
    b.inverse_sums = b.last_output + query_block * width;
    b.score_sums = b.inverse_sums + query_block;
    b.score_bases = b.score_sums + query_block * width / 2;
    b.score_starts = b.score_bases + query_block;
    b.offsets = b.score_starts + padded_keys + kPiece;
    return b;
  }
};

/// Four rows of four numbers become four columns.
void transpose_4x4(const float* from, size_t from_stride, float* to, size_t to_stride) {
  typedef float Four __attribute__((vector_size(16)));
  Four row[4];
  for (size_t r = 0; r < 4; ++r) std::memcpy(&row[r], from + r * from_stride, sizeof(Four));
  const Four low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  const Four low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  const Four high23 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  const Four column[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                          __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                          __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                          __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (size_t c = 0; c < 4; ++c) std::memcpy(to + c * to_stride, &column[c], sizeof(Four));
}

/// Keys of one head, turned so that a panel holds `width` keys side by side. Missing ones are zero.
void pack_keys(ConstMatrixView keys, size_t width, float* panels) {
  for (size_t first = 0; first < keys.rows; first += width, panels += keys.cols * width) {
    const size_t count = std::min(width, keys.rows - first);
    if (count < width) std::fill_n(panels, keys.cols * width, 0.0f);
    const size_t fours = count / 4 * 4, depth = keys.cols / 4 * 4;
    for (size_t c = 0; c < fours; c += 4)
      for (size_t k = 0; k < depth; k += 4)
        transpose_4x4(keys.row(first + c) + k, keys.stride, panels + k * width + c, width);
    for (size_t c = 0; c < count; ++c)
      for (size_t k = c < fours ? depth : 0; k < keys.cols; ++k)
        panels[k * width + c] = keys.row(first + c)[k];
  }
}

/// Values of one head, `width` columns after another: read in place, their distant rows would fall
/// into few sets of the first-level cache and drive each other out. Missing columns are zero.
void pack_values(ConstMatrixView values, size_t width, float* panels) {
  for (size_t column = 0; column < values.cols; column += width) {
    const size_t count = std::min(width, values.cols - column);
    for (size_t r = 0; r < values.rows; ++r, panels += width) {
      const float* from = values.row(r) + column;
      size_t c = 0;
      for (; c + kPiece <= count; c += kPiece) copy_piece(from + c, panels + c);
      for (; c < count; ++c) panels[c] = from[c];
      for (; c < width; ++c) panels[c] = 0.0f;
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

/// What the workers of one call share.
struct Job {
  const AttentionCall& call;
  const IsaKernels& kernels;
  const Plan& plan;
  MatrixView output;
  MatrixView probabilities;
};

/// scores · values of one head, normalised, into output [count, dv].
void weigh_values(const Job& job, const Buffers& buffers, MatrixView output) {
  const Plan& plan = job.plan;
  const size_t width = plan.width;
  for (size_t column = 0; column < output.cols; column += width) {
    const bool whole = column + width <= output.cols;
    job.kernels.product({.a = buffers.scores,
                         .a_stride = plan.padded_keys,
                         .rows = output.rows,
                         .panel = buffers.values + column * plan.keys,
                         .inner = plan.keys,
                         .row_scale = buffers.inverse_sums,
                         .c = whole ? output.data + column : buffers.last_output,
                         .c_stride = whole ? output.stride : width});
    for (size_t r = 0; !whole && r < output.rows; ++r)
      std::copy_n(buffers.last_output + r * width, output.cols - column, output.row(r) + column);
  }
}

struct HeadTask {
  size_t head;
  size_t first_query;
  size_t queries;
};

/// Whether fast_block may be tried: it can add numbers to all scores of a key, if they are not so
/// large that the scores would drown in them.
bool is_fast(const AttentionCall& call, const Plan& plan, size_t head) {
  constexpr float kLarge = 100.0f;
  const auto small = [](float bias) { return std::abs(bias) <= kLarge; };
  if (call.offsets != nullptr &&
      !(std::ranges::all_of(call.offsets->offsets.view().row_span(head), small) &&
        std::ranges::all_of(call.offsets->of_prefix.view().row_span(head), small)))
    return false;
  const AttentionMask& mask = call.mask;
  return !mask.causal && mask.bias.empty() && plan.keys >= plan.width &&
         std::ranges::all_of(mask.key_bias, small);
}

/// What the scores begin with, which are scaled later.
void fill_starts(const AttentionCall& call, const Plan& plan, float* starts) {
  const float factor = 1.0f / call.scale;
  for (size_t j = 0; j < plan.keys; ++j) starts[j] = call.mask.key_bias[j] * factor;
  std::fill(starts + plan.keys, starts + plan.padded_keys, 0.0f);
}

/// One head's offset bias as scores that are scaled later.
void scale_offsets(const AttentionCall& call, size_t head, float* offsets) {
  const OffsetBias& bias = *call.offsets;
  const float factor = 1.0f / call.scale;
  const float* from = bias.offsets.view().row(head);
  for (size_t i = 0; i < bias.offsets.cols(); ++i) offsets[i] = from[i] * factor;
}

/// What a query's scores begin with. Writes up to kPiece numbers behind the whole panels, which
/// means the next row's: fill rows in rising order.
void fill_offsets(const Job& job, const float* offsets, const HeadTask& at, float* starts) {
  const OffsetBias& bias = *job.call.offsets;
  const auto [rows, cols] = bias.grid;
  const float* of_prefix = bias.of_prefix.view().row(at.head);
  const float factor = 1.0f / job.call.scale;
  const bool prefix = at.first_query < bias.prefix;
  std::fill_n(starts, bias.prefix, of_prefix[prefix ? 2 : 1] * factor);
  float* to = starts + bias.prefix;
  if (prefix) {
    std::fill_n(to, rows * cols, of_prefix[0] * factor);
  } else {
    const size_t y = (at.first_query - bias.prefix) / cols,
                 x = (at.first_query - bias.prefix) % cols;
    const float* from = offsets + (rows - 1 - y) * (2 * cols - 1) + cols - 1 - x;
    for (size_t row = 0; row < rows; ++row, from += 2 * cols - 1, to += cols)
      for (size_t c = 0; c < cols; c += kPiece) copy_piece(from + c, to + c);
  }
  std::fill(starts + job.plan.keys, starts + job.plan.padded_keys, 0.0f);
}

/// One score after the other, then their mask, their largest, their powers: for all that fast_block
/// cannot do.
void score_block(const Job& job, const Buffers& buffers, const HeadTask& block) {
  const auto& [call, kernels, plan, output, probabilities] = job;
  const size_t d = plan.head_width;
  for (size_t panel = 0; panel < plan.padded_keys; panel += plan.width)
    kernels.product({.a = call.queries.row(block.first_query) + block.head * d,
                     .a_stride = call.queries.stride,
                     .rows = block.queries,
                     .panel = buffers.keys + panel * d,
                     .inner = d,
                     .row_scale = nullptr,
                     .c = buffers.scores + panel,
                     .c_stride = plan.padded_keys});
  const bool masked = call.mask.any();
  for (size_t r = 0; r < block.queries; ++r) {
    float* scores = buffers.scores + r * plan.padded_keys;
    if (call.offsets != nullptr) {
      fill_offsets(job, buffers.offsets, {block.head, block.first_query + r, 1},
                   buffers.score_starts);
      for (size_t j = 0; j < plan.keys; ++j) scores[j] += buffers.score_starts[j];
    }
    if (masked) add_mask(call, block.head, block.first_query + r, scores);
    const float sum = kernels.exp_row(scores, plan.keys, masked ? 1.0f : call.scale);
    buffers.inverse_sums[r] = sum > 0.0f ? 1.0f / sum : 0.0f;
  }
}

/// Where is_fast(), powers are taken of a score before it leaves its register. Rows that this is
/// not for (a key more than 50 above the first ones, scores that are huge or not finite) are done
/// again, one by one: what the others get must not depend on them.
void fast_block(const Job& job, const Buffers& buffers, const HeadTask& block) {
  const auto& [call, kernels, plan, output, probabilities] = job;
  const size_t d = plan.head_width;
  for (size_t r = 0; call.offsets != nullptr && r < block.queries; ++r)
    fill_offsets(job, buffers.offsets, {block.head, block.first_query + r, 1},
                 buffers.scores + r * plan.padded_keys);
  kernels.scores({.a = call.queries.row(block.first_query) + block.head * d,
                  .a_stride = call.queries.stride,
                  .rows = block.queries,
                  .panels = buffers.keys,
                  .inner = d,
                  .starts = call.offsets != nullptr      ? buffers.scores
                            : call.mask.key_bias.empty() ? nullptr
                                                         : buffers.score_starts,
                  .starts_stride = call.offsets != nullptr ? plan.padded_keys : 0,
                  .keys = plan.keys,
                  .factor = call.scale * 1.44269504f,  // / ln 2
                  .c = buffers.scores,
                  .c_stride = plan.padded_keys,
                  .totals = buffers.inverse_sums,
                  .sums = buffers.score_sums,
                  .bases = buffers.score_bases});
  constexpr float kTooLarge = 0x1p80f;  // leaves 2^48 for the values that are weighed
  for (size_t r = 0; r < block.queries; ++r) {
    if (buffers.inverse_sums[r] < kTooLarge) {
      buffers.inverse_sums[r] = 1.0f / buffers.inverse_sums[r];
      continue;
    }
    Buffers row = buffers;
    row.scores += r * plan.padded_keys;
    row.inverse_sums += r;
    score_block(job, row, {block.head, block.first_query + r, 1});
  }
}

void attend_head(const Job& job, const Buffers& buffers, const HeadTask& task) {
  const auto& [call, kernels, plan, output, probabilities] = job;
  const size_t key_head = task.head * call.key_heads / call.heads;
  const size_t value_head = task.head * call.value_heads / call.heads;
  const size_t dv = plan.value_width;
  pack_keys(call.keys.col_range(key_head * plan.head_width, plan.head_width), plan.width,
            buffers.keys);
  pack_values(call.values.col_range(value_head * dv, dv), plan.width, buffers.values);

  if (call.offsets != nullptr) scale_offsets(call, task.head, buffers.offsets);
  const bool fast = is_fast(call, plan, task.head);
  if (fast && !call.mask.key_bias.empty()) fill_starts(call, plan, buffers.score_starts);
  const size_t end = task.first_query + task.queries;
  for (size_t query = task.first_query; query < end; query += plan.query_block) {
    const size_t count = std::min(plan.query_block, end - query);
    (fast ? fast_block : score_block)(job, buffers, {task.head, query, count});
    weigh_values(job, buffers, output.row_range(query, count).col_range(task.head * dv, dv));
    if (probabilities.empty()) continue;
    for (size_t r = 0; r < count; ++r)
      kernels.scale_row(buffers.scores + r * plan.padded_keys, buffers.inverse_sums[r],
                        probabilities.row(task.head * call.queries.rows + query + r), plan.keys);
  }
}

/// Calls `work` for every head. Heads are cut into the rows of each worker (owners.h) if these are
/// enough to pay for packing keys and values once per part. Otherwise whole heads are shared if
/// that is even, or nearly so because there are many.
template <typename Work>
void share_heads(ThreadPool* pool, const AttentionCall& call, const Work& work) {
  constexpr size_t kRowsToPayForPacking = 96;
  const size_t queries = call.queries.rows, owners = owner_count(pool);
  const auto part = [&](size_t head, size_t parts, size_t index, size_t worker) {
    const RowRange own = own_rows(queries, parts, index);
    if (own.count > 0) work(HeadTask{head, own.first, own.count}, worker);
  };
  if (owners > 1 && queries >= owners * kRowsToPayForPacking)
    return parallel_for_owners(pool, call.heads, [&](size_t owner, size_t head, size_t worker) {
      part(head, owners, owner, worker);
    });
  const size_t parts = call.heads % owners == 0 || call.heads >= 4 * owners ? 1 : owners;
  parallel_for(pool, call.heads * parts, [&](size_t index, size_t worker) {
    part(index / parts, parts, index % parts, worker);
  });
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
  assert(call.offsets == nullptr || (!call.mask.any() && call.offsets->tokens() == call.keys.rows));
  if (call.queries.rows == 0) return;
  const IsaKernels& kernels = isa_kernels(call.isa);
  const Plan plan(call, kernels.panel_width);
  const size_t workers = pool == nullptr ? 1 : pool->size();
  scratch.reserve(workers, plan.floats());

  const Job job{call, kernels, plan, output, probabilities};
  share_heads(pool, call, [&](const HeadTask& task, size_t worker) {
    attend_head(job, plan.carve(scratch.of_worker(worker)), task);
  });
}

}  // namespace vit
