#include "patch/embed.h"

#include <algorithm>
#include <cassert>

namespace vit::patch {

void embed(const PatchEmbedding& embedding, ConstMatrixView patches, MatrixView tokens,
           ThreadPool* pool) {
  const size_t prefix = embedding.prefix.rows();
  assert(tokens.rows == prefix + patches.rows);
  for (size_t r = 0; r < prefix; ++r)
    std::copy_n(embedding.prefix.view().row(r), tokens.cols, tokens.row(r));

  const MatrixView projected = tokens.row_range(prefix, patches.rows);
  if (embedding.norm.identity()) {
    apply(embedding.project, patches, projected, {.residual = embedding.positions}, pool);
  } else {
    apply(embedding.project, patches, projected, {}, pool);
    normalize(embedding.norm, projected, projected, pool);
    if (!embedding.positions.empty()) add(embedding.positions, {}, projected, pool);
  }
  normalize(embedding.pre_norm, tokens, tokens, pool);
}

}  // namespace vit::patch
