/// y = x · Wᵀ + b with all that may follow it, in one pass over the output.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/matrix.h"
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

/// Some of the output columns, a worker's share.
struct ColumnRange {
  size_t first;
  size_t count;
};

/// Calls `work` for shares of whole panels that are as even as possible, several to a worker.
template <typename Work>
void share_columns(ThreadPool* pool, size_t out, size_t panel_width, const Work& work) {
  const size_t panels = (out + panel_width - 1) / panel_width;
  const size_t workers = pool == nullptr ? 1 : pool->size();
  constexpr size_t kSharesPerWorker = 4;  // one that was interrupted can be helped
  const size_t shares = workers == 1 ? 1 : std::min(panels, workers * kSharesPerWorker);
  parallel_for(pool, shares, [&](size_t share, size_t) {
    const size_t first = share * panels / shares * panel_width;
    const size_t end = (share + 1) * panels / shares * panel_width;
    work(ColumnRange{first, std::min(end, out) - first});
  });
}

/// What the kernels need to know of the output, for any kind of linear layer.
TileOutput make_tile_output(size_t rows, std::span<const float> bias, MatrixView y,
                            const Epilogue& epilogue, ColumnRange columns);

void apply(const Linear& linear, ConstMatrixView x, MatrixView y, const Epilogue& epilogue = {},
           ThreadPool* pool = nullptr);

}  // namespace vit
