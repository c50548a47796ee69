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

/// How far apart the rows of an x should lie, at least `cols`: a multiple of 2 KB apart, a tile's
/// rows fall into one or two sets of the first-level cache and drive each other out.
constexpr size_t row_stride(size_t cols, size_t bytes_each = sizeof(float)) {
  constexpr size_t kFewSets = 2048, kLine = 64;
  return cols * bytes_each % kFewSets == 0 ? cols + kLine / bytes_each : cols;
}
static_assert(row_stride(3072) == 3088 && row_stride(768) == 768 && row_stride(4096, 1) == 4160);

/// A worker's share of the output.
struct OutputRange {
  size_t first_row;
  size_t rows;
  size_t first_column;
  size_t columns;
};

/// Columns [first, end) of the output.
struct ColumnRange {
  size_t first;
  size_t end;
};

/// Calls `work` for shares that are whole tiles; the first may begin before `columns`. Each worker
/// has rows of its own, the same in every layer, so that they stay in its cache; their columns are
/// cut into shares with which others can help. With too few rows for that all workers share
/// columns.
template <typename Work>
void share_output(ThreadPool* pool, size_t rows, const ColumnRange& columns, size_t panel_width,
                  const Work& work) {
  constexpr size_t kPanelsPerShare = 2, kSharesPerOwner = 32, kRowsPerOwner = 48;
  const size_t before = columns.first / panel_width;
  const size_t panels = (columns.end + panel_width - 1) / panel_width - before;
  const size_t owners = owner_count(pool);
  const auto column_share = [&](size_t share, size_t shares, size_t first_row, size_t count) {
    const auto border = [&](size_t i) { return (before + i * panels / shares) * panel_width; };
    const size_t first = border(share), end = std::min(columns.end, border(share + 1));
    work(OutputRange{first_row, count, first, end - first});
  };
  if (owners == 1) return column_share(0, 1, 0, rows);
  const size_t shares = std::clamp(panels / kPanelsPerShare, size_t{1}, kSharesPerOwner);
  if (rows < owners * kRowsPerOwner) {
    const size_t all = std::min(panels, shares * owners);
    return parallel_for(pool, all,
                        [&](size_t share, size_t) { column_share(share, all, 0, rows); });
  }
  parallel_for_owners(pool, shares, [&](size_t owner, size_t share, size_t) {
    const RowRange own = own_rows(rows, owners, owner);
    column_share(share, shares, own.first, own.count);
  });
}

/// What the kernels need to know of the output, for any kind of linear layer.
TileOutput make_tile_output(std::span<const float> bias, MatrixView y, const Epilogue& epilogue,
                            const OutputRange& range);

void apply(const Linear& linear, ConstMatrixView x, MatrixView y, const Epilogue& epilogue = {},
           ThreadPool* pool = nullptr);

/// As apply(), where only y's columns from `first` on are wanted: the others may be filled as well
/// or left as they are, as suits the panels.
void apply_from(const Linear& linear, size_t first, ConstMatrixView x, MatrixView y,
                ThreadPool* pool = nullptr);

}  // namespace vit
