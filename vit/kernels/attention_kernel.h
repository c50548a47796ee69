/// Scaled dot-product attention over heads that are column ranges of the views given: nothing is
/// split or merged by copying.
#pragma once

#include <span>

#include "vit/base/config.h"
#include "vit/base/matrix.h"
#include "vit/base/thread_pool.h"
#include "vit/kernels/cpu.h"

namespace vit {

/// Which keys a query may see, as numbers added to the scaled scores; -inf hides a key.
struct AttentionMask {
  bool causal = false;                ///< query i sees key j if j <= i + keys - queries
  ConstMatrixView bias{};             ///< [queries, keys], or [heads·queries, keys], or empty
  std::span<const float> key_bias{};  ///< one per key (padding, size of a merged token), or empty

  bool any() const { return causal || !bias.empty() || !key_bias.empty(); }
};

/// Numbers added to the scaled scores, which depend on the offset from query patch to key patch.
/// Tokens are those of a prefix, then the patches of a grid, row after row.
struct OffsetBias {
  size_t prefix = 0;
  GridSize grid{};
  /// [heads, (2·rows-1)·(2·cols-1)]: for a key that lies y rows below and x columns right of the
  /// query, at (y + rows - 1)·(2·cols-1) + x + cols - 1.
  Matrix offsets;
  /// [heads, 3]: prefix query to patch key, patch query to prefix key, prefix to prefix.
  Matrix of_prefix;

  size_t tokens() const { return prefix + grid.count(); }
};

/// Head h uses key head h·key_heads/heads and value head h·value_heads/heads: as many as heads is
/// the ordinary attention, fewer is grouped-query, one is multi-query.
struct AttentionCall {
  ConstMatrixView queries{};  ///< [queries, heads·d]
  ConstMatrixView keys{};     ///< [keys, key_heads·d]
  ConstMatrixView values{};   ///< [keys, value_heads·dv]
  size_t heads = 1;
  size_t key_heads = 1;
  size_t value_heads = 1;
  float scale = 1.0f;  ///< of the scores: 1 / (sqrt(d) · temperature)
  AttentionMask mask{};
  const OffsetBias* offsets = nullptr;  ///< of all keys; not with a mask
  Isa isa;

  size_t head_width() const { return queries.cols / heads; }
  size_t value_width() const { return values.cols / value_heads; }
};

/// Buffers that the kernel reuses from call to call; grown when a call needs more.
class AttentionScratch {
 public:
  /// Floats that one worker needs.
  void reserve(size_t workers, size_t floats_per_worker);
  float* of_worker(size_t worker) { return buffer_.view().row(worker); }

 private:
  Matrix buffer_;
};

/// output [queries, heads·dv] = softmax(scale · q·kᵀ + mask) · v per head. A query that may see no
/// key gets zeros. `probabilities` [heads·queries, keys] is filled if it is not empty; the output
/// is the same to the bit either way.
void attention(const AttentionCall& call, MatrixView output, AttentionScratch& scratch,
               ThreadPool* pool = nullptr, MatrixView probabilities = {});

}  // namespace vit
