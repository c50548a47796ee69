#include "vit/encoder/mlp.h"

namespace vit {

void feed_forward(const Mlp& mlp, ConstMatrixView x, const Resources& resources, MatrixView y,
                  const Epilogue& epilogue) {
  const Execution& execution = resources.execution;
  MatrixView hidden = resources.workspace.hidden(x.rows, mlp.expand.out);
  if (mlp.gated) {
    apply(mlp.expand, x, hidden, execution);
    const MatrixView gated = hidden.col_range(0, mlp.contract.in);
    gate(mlp.activation, hidden, gated, execution);
    hidden = gated;
  } else {
    apply(mlp.expand, x, hidden, execution, {.activation = mlp.activation});
  }
  normalize(mlp.norm, hidden, hidden, execution);
  apply(mlp.contract, hidden, y, execution, epilogue);
}

WorkspaceShape workspace_shape(const Mlp& mlp, size_t tokens) {
  return {.tokens = tokens,
          .memory = 0,
          .width = mlp.contract.out,
          .qkv = 0,
          .context = 0,
          .hidden = mlp.expand.out};
}

}  // namespace vit
