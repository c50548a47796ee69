/// Every activation of one running sequence, by name, allocated once and reused.
#pragma once

#include "vit/base/matrix.h"
#include "vit/kernels/attention_kernel.h"
#include "vit/kernels/execution.h"

namespace vit {

/// The widths of an encoder's activations, and the longest sequences.
struct WorkspaceShape {
  size_t tokens = 0;   ///< T
  size_t memory = 0;   ///< tokens of the other sequence in cross-attention
  size_t width = 0;    ///< D
  size_t qkv = 0;      ///< queries, keys and values side by side
  size_t context = 0;  ///< outputs of the heads, before any combining
  size_t hidden = 0;   ///< the MLP's first layer
};

/// The larger of each field.
WorkspaceShape larger_of(const WorkspaceShape& a, const WorkspaceShape& b);

class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(const WorkspaceShape& shape) { reserve(shape); }

  /// Grows the buffers that are too small.
  void reserve(const WorkspaceShape& shape);

  // Views of exactly `rows` rows and `cols` columns of the buffers below.
  MatrixView normed(size_t rows, size_t cols) { return part(normed_, rows, cols); }
  MatrixView update(size_t rows, size_t cols) { return part(update_, rows, cols); }
  MatrixView qkv(size_t rows, size_t cols) { return part(qkv_, rows, cols); }
  MatrixView memory(size_t rows, size_t cols) { return part(memory_, rows, cols); }
  MatrixView context(size_t rows, size_t cols) { return part(context_, rows, cols); }
  MatrixView hidden(size_t rows, size_t cols) { return part(hidden_, rows, cols); }
  /// Allocated at the first call: the fast path never builds an attention matrix.
  MatrixView probabilities(size_t rows, size_t cols);

  AttentionScratch attention;

 private:
  static MatrixView part(Matrix& buffer, size_t rows, size_t cols);

  Matrix normed_;         // [T, D] normalised input of attention or MLP
  Matrix update_;         // [T, D] a residual update that cannot be added in place
  Matrix qkv_;            // [T, (H+2·KV)·d]
  Matrix memory_;         // [memory, 2·KV·d] keys and values of the other sequence
  Matrix context_;        // [T, H·d] the heads' outputs side by side
  Matrix hidden_;         // [T, F], [T, 2F] when gated
  Matrix probabilities_;  // [H·T, T]
};

/// What a part of the encoder runs with: buffers for its activations, and an execution.
struct Resources {
  Workspace& workspace;
  Execution execution;

  Resources(Workspace& buffers, const Execution& how) : workspace(buffers), execution(how) {}
};

}  // namespace vit
