/// Low-rank adapters (Hu et al. 2021): each matrix of the blocks is W + scale · B · A with W
/// frozen. The numbers that learn, A, B and the classifier, are a row of their own.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "vit/base/thread_pool.h"
#include "vit/gradient/layout.h"

namespace vit::gradient {

/// One tensor that learns, in the row of numbers that learn.
struct LowRankSlot {
  Slot full;          ///< the model's tensor
  size_t offset = 0;  ///< of A [rank, cols], which B [rows, rank] follows, or of the tensor itself
  size_t rank = 0;    ///< 0: the tensor itself learns, as the classifier's do

  size_t b_offset() const { return offset + rank * full.cols; }
  size_t size() const { return rank == 0 ? full.size() : rank * (full.rows + full.cols); }
};

class LowRankLayout {
 public:
  LowRankLayout() = default;
  LowRankLayout(const Layout& layout, size_t rank);

  /// alpha / rank of the paper, the same for every rank.
  static constexpr double kScale = 2.0;

  const std::vector<LowRankSlot>& slots() const { return slots_; }
  /// Null if this tensor does not learn.
  const LowRankSlot* find(std::string_view name) const;
  size_t size() const { return size_; }
  bool empty() const { return slots_.empty(); }

 private:
  std::vector<LowRankSlot> slots_;
  size_t size_ = 0;
};

/// Writes the tensors that learn into `merged`, a row of all of the model's numbers: W + scale·B·A
/// with W from `frozen`. The result does not depend on the workers of `pool`, which may be null.
template <typename T>
void merge_low_rank(const LowRankLayout& layout, std::span<const T> learned,
                    std::span<const T> frozen, std::span<T> merged, ThreadPool* pool = nullptr);

}  // namespace vit::gradient
