/// The feed-forward part of a block: two linear layers with an activation, plain or gated, between.
#pragma once

#include "vit/encoder/workspace.h"
#include "vit/kernels/linear.h"
#include "vit/kernels/rowwise.h"

namespace vit {

struct Mlp {
  Linear expand;    ///< [F, D]; gated: gate rows, then value rows, [2F, D]
  Norm norm;        ///< on the hidden activations, or none
  Linear contract;  ///< [D, F]
  Activation activation = Activation::kGelu;
  bool gated = false;  ///< hidden = activation(gate) · value
};

/// y = epilogue(contract(activation(expand(x)))).
void feed_forward(const Mlp& mlp, ConstMatrixView x, const Resources& resources, MatrixView y,
                  const Epilogue& epilogue = {});

WorkspaceShape workspace_shape(const Mlp& mlp, size_t tokens);

}  // namespace vit
