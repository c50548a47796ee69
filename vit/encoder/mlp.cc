#include "vit/encoder/mlp.h"

namespace vit {

void feed_forward(const Mlp& mlp, ConstMatrixView x, Workspace& workspace, MatrixView y,
                  const Epilogue& epilogue) {
  MatrixView hidden = workspace.hidden(x.rows, mlp.expand.out);
  if (mlp.gated) {
    apply(mlp.expand, x, hidden, {}, workspace.pool);
    const MatrixView gated = hidden.col_range(0, mlp.contract.in);
    gate(mlp.activation, hidden, gated, workspace.pool);
    hidden = gated;
  } else {
    apply(mlp.expand, x, hidden, {.activation = mlp.activation}, workspace.pool);
  }
  normalize(mlp.norm, hidden, hidden, workspace.pool);
  apply(mlp.contract, hidden, y, epilogue, workspace.pool);
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
