/// A model of three layers of 24 wide tokens on a grid of 4x4 patches.
#pragma once

#include "vit/base/config.h"

namespace vit::test {

inline ModelConfig small_config(size_t branches = 1) {
  ModelConfig config;
  config.embedding.image_height = config.embedding.image_width = 32;
  config.embedding.patch_height = config.embedding.patch_width = 8;
  config.embedding.position_grid = {4, 4};
  config.encoder.width = 24;
  config.encoder.depth = 3;
  config.encoder.heads = config.encoder.key_value_heads = 3;
  config.encoder.mlp_width = 48;
  config.head.classes = 5;
  config.encoder.branches = branches;
  return config;
}

}  // namespace vit::test
