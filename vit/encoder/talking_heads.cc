#include "vit/encoder/talking_heads.h"

#include <algorithm>
#include <cassert>

#include "vit/kernels/multiply.h"
#include "vit/kernels/rowwise.h"

namespace vit {
namespace {

/// Scores of all heads that are alive at once, in floats: they stay in the second-level cache.
constexpr size_t kScores = 48 * 1024;

/// Queries [first, first + count) and two matrices [heads, count·keys].
struct Part {
  size_t first;
  size_t count;
  MatrixView scores;
  MatrixView mixed;
};

/// The scores of one head, [count, keys].
MatrixView of_head(MatrixView all, size_t head, size_t keys) {
  return {all.row(head), all.cols / keys, keys};
}

void score(const AttentionCall& call, const Part& part) {
  const size_t d = call.head_width();
  for (size_t h = 0; h < call.heads; ++h)
    multiply(call.queries.row_range(part.first, part.count).col_range(h * d, d),
             call.keys.col_range(h * d, d), of_head(part.scores, h, call.keys.rows),
             {.b = Transpose::kYes, .alpha = call.scale}, call.isa);
}

void soften(const AttentionCall& call, const Part& part, MatrixView probabilities) {
  const size_t keys = call.keys.rows;
  for (size_t h = 0; h < call.heads; ++h) {
    const MatrixView rows = of_head(part.mixed, h, keys);
    softmax(rows, 1.0f, {nullptr, call.isa});
    for (size_t r = 0; !probabilities.empty() && r < rows.rows; ++r)
      std::copy_n(rows.row(r), keys, probabilities.row(h * call.queries.rows + part.first + r));
  }
}

void attend_part(const TalkingHeads& talking, const AttentionCall& call, const Part& part,
                 MatrixView output, MatrixView probabilities) {
  score(call, part);
  multiply(talking.before, part.scores, part.mixed, {}, call.isa);
  soften(call, part, probabilities);
  multiply(talking.after, part.mixed, part.scores, {}, call.isa);
  const size_t dv = call.value_width();
  for (size_t h = 0; h < call.heads; ++h) {
    for (float& weight : part.scores.row_span(h)) weight += talking.after_bias[h];
    multiply(of_head(part.scores, h, call.keys.rows), call.values.col_range(h * dv, dv),
             output.row_range(part.first, part.count).col_range(h * dv, dv), {}, call.isa);
  }
}

}  // namespace

void attention(const TalkingHeads& talking, const AttentionCall& call, MatrixView output,
               AttentionScratch& scratch, ThreadPool* pool, MatrixView probabilities) {
  assert(call.heads == call.key_heads && call.heads == call.value_heads && !call.mask.any());
  assert(talking.before.rows() == call.heads && call.offsets == nullptr);
  const size_t keys = call.keys.rows, queries = call.queries.rows, row = call.heads * keys;
  // Not by the number of workers: the bits of a result do not depend on it.
  const size_t block = std::clamp(kScores / std::max<size_t>(1, row), size_t{1}, queries);
  scratch.reserve(pool == nullptr ? 1 : pool->size(), 2 * row * block);
  parallel_for(pool, (queries + block - 1) / block, [&](size_t index, size_t worker) {
    const size_t first = index * block, count = std::min(block, queries - first);
    float* buffer = scratch.of_worker(worker);
    attend_part(talking, call,
                {.first = first,
                 .count = count,
                 .scores = {buffer, call.heads, count * keys},
                 .mixed = {buffer + row * count, call.heads, count * keys}},
                output, probabilities);
  });
}

}  // namespace vit
