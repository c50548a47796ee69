#include "vit/encoder/workspace.h"

#include <algorithm>
#include <cassert>

#include "vit/kernels/linear.h"

namespace vit {
namespace {

/// Room for `rows` rows of up to `cols` columns, whatever stride those have.
void grow(Matrix& buffer, size_t rows, size_t cols) {
  constexpr size_t kLine = Matrix::kAlignment / sizeof(float);
  if (cols > 0 && buffer.size() < rows * (cols + kLine)) buffer = Matrix(rows, cols + kLine);
}

}  // namespace

WorkspaceShape larger_of(const WorkspaceShape& a, const WorkspaceShape& b) {
  return {.tokens = std::max(a.tokens, b.tokens),
          .memory = std::max(a.memory, b.memory),
          .width = std::max(a.width, b.width),
          .qkv = std::max(a.qkv, b.qkv),
          .context = std::max(a.context, b.context),
          .hidden = std::max(a.hidden, b.hidden)};
}

void Workspace::reserve(const WorkspaceShape& shape) {
  grow(normed_, shape.tokens, shape.width);
  grow(update_, shape.tokens, shape.width);
  grow(qkv_, shape.tokens, shape.qkv);
  grow(memory_, shape.memory, shape.qkv);
  grow(context_, shape.tokens, shape.context);
  grow(hidden_, shape.tokens, shape.hidden);
}

MatrixView Workspace::probabilities(size_t rows, size_t cols) {
  if (probabilities_.size() < rows * cols) probabilities_ = Matrix(rows, cols);
  return {probabilities_.data(), rows, cols};
}

MatrixView Workspace::part(Matrix& buffer, size_t rows, size_t cols) {
  assert(rows * row_stride(cols) <= buffer.size() && "the workspace was reserved for less");
  return {buffer.data(), rows, cols, row_stride(cols)};
}

}  // namespace vit
