/// y = x · Wᵀ + b with all that may follow it, in one pass over the output.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/matrix.h"
#include "vit/base/owners.h"
#include "vit/base/thread_pool.h"
#include "vit/kernels/cpu.h"
#include "vit/kernels/isa_kernels.h"

namespace vit {

/// What the products of a layer are made in.
enum class Precision { kF32, kInt8 };

struct Int8Linear;

/// Weights packed once into the order in which the kernel of `isa` reads them: panels of columns,
/// each holding all of the inner dimension. The baseline keeps W [out, in] as it is, for OpenBLAS.
struct Linear {
  size_t in = 0;
  size_t out = 0;
  Isa isa = Isa::kBaseline;
  Matrix weights;
  std::vector<float> bias;                   ///< out numbers, or empty
  std::shared_ptr<const Int8Linear> int8{};  ///< instead of weights, where the layer runs in 8 bits

  bool empty() const { return out == 0; }
  size_t bytes() const;
};

/// Hands over rows [first, first + count) of W, `in` floats each.
using ReadRows = std::function<void(size_t first, size_t count, float* rows)>;

/// Reads every row of W once. An empty bias is none.
Linear pack_linear(size_t out, size_t in, const ReadRows& read_rows, std::span<const float> bias,
                   Isa isa = active_isa());

/// What follows the product: activation, then layer scale, then the residual is added.
struct Epilogue {
  Activation activation = Activation::kNone;
  std::span<const float> layer_scale{};  ///< out numbers, or empty
  ConstMatrixView residual{};            ///< like y, or empty; may be y itself
};

/// A worker's share of the output.
struct OutputRange {
  size_t first_row;
  size_t rows;
  size_t first_column;
  size_t columns;
};

/// Calls `work` for shares that are whole tiles. Each worker has rows of its own, the same in every
/// layer, so that they stay in its cache; their columns are cut into shares with which others can
/// help. With too few rows for that all workers share columns.
template <typename Work>
void share_output(ThreadPool* pool, size_t rows, size_t columns, size_t panel_width,
                  const Work& work) {
  constexpr size_t kPanelsPerShare = 4, kSharesPerOwner = 16, kRowsPerOwner = 48;
  const size_t panels = (columns + panel_width - 1) / panel_width;
  const size_t owners = owner_count(pool);
  const auto column_share = [&](size_t share, size_t shares, size_t first_row, size_t count) {
    const size_t first = share * panels / shares * panel_width;
    const size_t end = std::min(columns, (share + 1) * panels / shares * panel_width);
    work(OutputRange{first_row, count, first, end - first});
  };
  if (owners == 1) return column_share(0, 1, 0, rows);
  const size_t shares = std::clamp(panels / kPanelsPerShare, size_t{1}, kSharesPerOwner);
  if (rows < owners * kRowsPerOwner) {
    const size_t all = std::min(panels, shares * owners);
    return parallel_for(pool, all,
                        [&](size_t share, size_t) { column_share(share, all, 0, rows); });
  }
  const size_t own = own_rows(rows, owners);
  parallel_for_owners(pool, shares, [&](size_t owner, size_t share, size_t) {
    const size_t first = std::min(rows, owner * own), end = std::min(rows, first + own);
    if (first < end) column_share(share, shares, first, end - first);
  });
}

/// What the kernels need to know of the output, for any kind of linear layer.
TileOutput make_tile_output(std::span<const float> bias, MatrixView y, const Epilogue& epilogue,
                            const OutputRange& range);

void apply(const Linear& linear, ConstMatrixView x, MatrixView y, const Epilogue& epilogue = {},
           ThreadPool* pool = nullptr);

}  // namespace vit
