/// Relative position bias: numbers for the offsets between patches, from a learned table or an MLP.
#pragma once

#include <span>
#include <vector>

#include "vit/base/config.h"
#include "vit/kernels/attention_kernel.h"

namespace vit {

/// What a checkpoint holds of one bias: a table, or an MLP of two layers.
struct RelativeBiasWeights {
  Matrix table;                      ///< [offsets (+ 3 for the class token), heads]
  Matrix expand;                     ///< [hidden, 2]
  std::vector<float> expand_bias;    ///< [hidden]
  Matrix contract;                   ///< [heads, hidden]
  std::vector<float> contract_bias;  ///< [heads], or empty
};

/// Adds the bias to `to`, whose prefix and grid are set; the first one makes the matrices.
void add_relative_bias(const RelativeBiasConfig& config, const RelativeBiasWeights& weights,
                       OffsetBias& to);

/// A table [offsets (+ 3), heads] for another grid; the rows of the class token stay.
Matrix resample_bias_table(const RelativeBiasConfig& config, ConstMatrixView table, GridSize to);

/// The inputs of the MLP: for each offset (rows first), a number for rows and one for columns.
Matrix relative_coordinates(RelativeBiasKind kind, GridSize grid);

}  // namespace vit
