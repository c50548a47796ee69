/// y = x · Wᵀ + b with all that may follow it, in one pass over the output.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/matrix.h"
#include "vit/kernels/execution.h"

namespace vit {

struct Int8Linear;

/// Weights packed once into the order in which the kernel of `isa` reads them: panels of columns,
/// each holding all of the inner dimension.
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
                   Isa isa);

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

/// The execution's instruction set must be the one that the layer was packed for.
void apply(const Linear& linear, ConstMatrixView x, MatrixView y, const Execution& execution,
           const Epilogue& epilogue = {});

/// As apply(), where only y's columns from `first` on are wanted: the others may be filled as well
/// or left as they are, as suits the panels.
void apply_from(const Linear& linear, size_t first, ConstMatrixView x, MatrixView y,
                const Execution& execution);

}  // namespace vit
