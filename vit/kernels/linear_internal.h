/// What float and 8-bit linear layers share. Internal to vit/kernels.
#pragma once

#include <algorithm>
#include <span>

#include "vit/base/matrix.h"
#include "vit/base/owners.h"
#include "vit/base/thread_pool.h"
#include "vit/kernels/int8_linear.h"
#include "vit/kernels/isa_kernels.h"
#include "vit/kernels/linear.h"

namespace vit {

/// Columns [first, end) of the output.
struct ColumnRange {
  size_t first;
  size_t end;
};

/// A worker's share of the output.
struct OutputRange {
  size_t first_row;
  size_t rows;
  size_t first_column;
  size_t columns;
};

/// One run of a linear layer on `columns` of its output.
struct LinearCall {
  ConstMatrixView x;  ///< [rows, in]
  MatrixView y;       ///< [rows, out]
  ColumnRange columns;
  Epilogue epilogue{};
  ThreadPool* pool = nullptr;
};

/// Calls `work` for shares of `call`'s output that are whole tiles; the first share may begin
/// before the columns of `call`. Each worker has rows of its own, the same in every layer, so that
/// they stay in its cache. Their columns are cut into shares, with which other workers can help. If
/// there are too few rows for that, the workers share the columns of all rows.
template <typename Work>
void share_output(const LinearCall& call, size_t panel_width, const Work& work) {
  constexpr size_t kPanelsPerShare = 2, kSharesPerOwner = 32, kRowsPerOwner = 48;
  const size_t rows = call.x.rows, before = call.columns.first / panel_width;
  const size_t panels = (call.columns.end + panel_width - 1) / panel_width - before;
  const size_t owners = owner_count(call.pool);
  const auto column_share = [&](size_t share, size_t shares, const RowRange& own) {
    const auto border = [&](size_t i) { return (before + i * panels / shares) * panel_width; };
    const size_t first = border(share), end = std::min(call.columns.end, border(share + 1));
    work(OutputRange{own.first, own.count, first, end - first});
  };
  if (owners == 1) return column_share(0, 1, {0, rows});
  const size_t shares = std::clamp(panels / kPanelsPerShare, size_t{1}, kSharesPerOwner);
  if (rows < owners * kRowsPerOwner) {
    const size_t all = std::min(panels, shares * owners);
    return parallel_for(call.pool, all, [&](size_t share, size_t) {
      column_share(share, all, {0, rows});
    });
  }
  parallel_for_owners(call.pool, shares, [&](size_t owner, size_t share, size_t) {
    column_share(share, shares, own_rows(rows, owners, owner));
  });
}

/// A share of the output as the kernels take it.
TileOutput make_tile_output(const LinearCall& call, std::span<const float> bias,
                            const OutputRange& range);

/// The sums are the same integers on every instruction set.
void apply(const Int8Linear& linear, std::span<const float> bias, const LinearCall& call, Isa isa);

}  // namespace vit
