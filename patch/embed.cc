#include "patch/embed.h"

#include <algorithm>
#include <cassert>

namespace vit::patch {

void embed(const PatchEmbedding& embedding, ConstMatrixView patches, MatrixView tokens,
           const Execution& execution) {
  const size_t prefix = embedding.prefix.rows();
  assert(tokens.rows == prefix + patches.rows);
  for (size_t r = 0; r < prefix; ++r)
    std::copy_n(embedding.prefix.view().row(r), tokens.cols, tokens.row(r));

  const MatrixView projected = tokens.row_range(prefix, patches.rows);
  if (embedding.norm.identity()) {
    apply(embedding.project, patches, projected, execution, {.residual = embedding.positions});
  } else {
    apply(embedding.project, patches, projected, execution);
    normalize(embedding.norm, projected, projected, execution);
    if (!embedding.positions.empty()) add(embedding.positions, {}, projected, execution);
  }
  normalize(embedding.pre_norm, tokens, tokens, execution);
}

}  // namespace vit::patch
