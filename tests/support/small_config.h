/// The configuration of a small model. A test names only the sizes that matter to it.
#pragma once

#include "vit/base/config.h"

namespace vit::test {

struct SmallSizes {
  GridSize grid{4, 4};  ///< of patches
  size_t patch = 8;     ///< edge in pixels
  size_t width = 24;
  size_t depth = 3;
  size_t heads = 3;
  size_t mlp_width = 48;
  size_t classes = 5;
  size_t branches = 1;
};

inline ModelConfig small_config(const SmallSizes& sizes = {}) {
  ModelConfig config;
  config.embedding.image_height = sizes.grid.rows * sizes.patch;
  config.embedding.image_width = sizes.grid.cols * sizes.patch;
  config.embedding.patch_height = config.embedding.patch_width = sizes.patch;
  config.embedding.position_grid = sizes.grid;
  config.encoder.width = sizes.width;
  config.encoder.depth = sizes.depth;
  config.encoder.heads = config.encoder.key_value_heads = sizes.heads;
  config.encoder.mlp_width = sizes.mlp_width;
  config.encoder.branches = sizes.branches;
  config.head.classes = sizes.classes;
  return config;
}

}  // namespace vit::test
