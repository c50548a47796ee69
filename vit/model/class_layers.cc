#include "vit/model/class_layers.h"

#include <algorithm>

namespace vit {
namespace {

/// c [1, D] is updated; probabilities [H, 1 + N] are filled if not empty.
void forward(const ClassLayer& layer, ConstMatrixView patches, const Resources& resources,
             MatrixView c, MatrixView probabilities) {
  const MatrixView normed = resources.workspace.normed(1 + patches.rows, patches.cols);
  const MatrixView first = normed.row_range(0, 1);
  normalize(layer.norm1, c, first, resources.execution);
  normalize(layer.norm1, patches, normed.row_range(1, patches.rows), resources.execution);
  attend(layer.attention, {.tokens = first, .memory = normed, .probabilities = probabilities},
         resources, c, {.layer_scale = layer.layer_scale1, .residual = c});
  normalize(layer.norm2, c, first, resources.execution);
  feed_forward(layer.mlp, first, resources, c, {.layer_scale = layer.layer_scale2, .residual = c});
}

}  // namespace

void read_patches(const ClassLayers& layers, ConstMatrixView patches, const Resources& resources,
                  std::span<float> token, const ClassLayerTap& tap) {
  const MatrixView c{token.data(), 1, token.size()};
  std::copy_n(layers.token.data(), token.size(), token.begin());
  for (size_t i = 0; i < layers.layers.size(); ++i) {
    Matrix probabilities;
    if (tap) probabilities = Matrix(layers.layers[i].attention.heads, 1 + patches.rows);
    forward(layers.layers[i], patches, resources, c, probabilities);
    if (tap) tap(i, probabilities, c);
  }
}

WorkspaceShape workspace_shape(const ClassLayers& layers, size_t patches) {
  WorkspaceShape shape;
  for (const ClassLayer& layer : layers.layers) {
    shape = larger_of(shape, workspace_shape(layer.attention, 1 + patches, 1 + patches));
    shape = larger_of(shape, workspace_shape(layer.mlp, 1));
  }
  return shape;
}

}  // namespace vit
