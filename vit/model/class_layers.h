/// CaiT's last layers: a class token, which the blocks never saw, reads the patches.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "vit/encoder/attention.h"
#include "vit/encoder/mlp.h"

namespace vit {

/// c += scale · attention of norm(c) over norm([c, patches]); c += scale · mlp(norm(c)).
struct ClassLayer {
  Norm norm1;
  Attention attention;  ///< cross-attention
  std::vector<float> layer_scale1;
  Norm norm2;
  Mlp mlp;
  std::vector<float> layer_scale2;
};

struct ClassLayers {
  Matrix token;  ///< [1, D]
  std::vector<ClassLayer> layers;

  bool empty() const { return layers.empty(); }
};

/// Observes a layer: its attention [H, 1 + patches] and the class token after it.
using ClassLayerTap =
    std::function<void(size_t layer, ConstMatrixView attention, ConstMatrixView token)>;

/// The class token after all layers, into `token`. `patches` [N, D] stay as they are.
void read_patches(const ClassLayers& layers, ConstMatrixView patches, const Resources& resources,
                  std::span<float> token, const ClassLayerTap& tap = {});

WorkspaceShape workspace_shape(const ClassLayers& layers, size_t patches);

}  // namespace vit
