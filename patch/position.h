/// Tables that tell patches where they are.
#pragma once

#include <cstddef>

#include "vit/base/config.h"
#include "vit/base/matrix.h"

namespace vit::patch {

/// The rows that are added to the tokens: [covered prefix + rows·cols of the grid, D]; empty where
/// the model has none. `stored` is the learned table, for the grid that it was trained on;
/// of factorized positions its rows, then its columns.
Matrix positions_for(const EmbeddingConfig& config, size_t width, ConstMatrixView stored);

/// A learned table [rows·cols, D] for another grid, as torch's F.interpolate resamples it. Prefix
/// rows are no part of a grid: keep them out. The same grid gives the same bits.
Matrix resample_positions(ConstMatrixView table, GridSize from, GridSize to,
                          PositionResampling resampling);

/// The Transformer's own: position p has sin(p·w_i) at 2i and cos(p·w_i) at 2i + 1, with
/// w_i = 10000^(-2i/D). [count, D]
Matrix sinusoidal_positions_1d(size_t count, size_t width);

/// MAE's: four quarters sin(x·w), cos(x·w), sin(y·w), cos(y·w), x the column and y the row, with
/// w_i = temperature^(-i/(D/4)). Throws an Error if D is no multiple of 4. [rows·cols, D]
Matrix sinusoidal_positions_2d(GridSize grid, size_t width, double temperature = 10000.0);

}  // namespace vit::patch
