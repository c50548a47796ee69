/// Rotary positions: cosines and sines that queries and keys of patches are rotated by.
#pragma once

#include <span>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/matrix.h"
#include "vit/kernels/rowwise.h"

namespace vit {

/// The tables for one grid, as the kernels read them.
struct Rotary {
  size_t prefix = 0;  ///< tokens in front of the patches, which are not rotated
  size_t head_width = 0;
  size_t heads = 1;  ///< that differ
  bool split_halves = false;
  Matrix cosines;  ///< [heads·N, d], or [heads·N, d / 2] of split halves
  Matrix sines;

  Rotation rotation() const { return {cosines, sines, heads, split_halves}; }
};

/// d / 2 angles for each patch, row after row of the grid: what queries and keys turn by. Not for
/// RotaryKind::kLearned. `periods`: d / 4 that the checkpoint holds; empty: by the temperature.
std::vector<double> rotary_angles(const RotaryConfig& config, GridSize grid, size_t head_width,
                                  std::span<const float> periods = {});

/// The same for each head of one layer, head after head, from learned frequencies [heads, d / 2]
/// of the first and of the second axis.
std::vector<double> rotary_angles(const RotaryConfig& config, GridSize grid,
                                  std::span<const float> first, std::span<const float> second,
                                  size_t heads);

/// Tables of `angles`, which hold d / 2 of each patch and head.
Rotary make_rotary(const RotaryConfig& config, std::span<const double> angles, size_t head_width);

}  // namespace vit
