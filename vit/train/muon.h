/// Muon: a matrix moves by its momentum made orthogonal, so that every direction in which the
/// gradient points counts the same (Jordan et al. 2024).
#pragma once

#include "vit/base/matrix.h"
#include "vit/train/optimizer.h"

namespace vit::train {

/// Singular values of `matrix` all near 1, its singular vectors as they were: five steps of the
/// quintic Newton-Schulz iteration, which overshoots to between 0.7 and 1.2 for the sake of speed.
/// A matrix of zeros stays one.
void orthogonalize(MatrixView matrix, Operands operands = Operands::kF32);

struct Muon {
  double momentum = 0.95;
  double weight_decay = 0.05;
  Operands operands = Operands::kF32;  ///< of the products
};

/// One group with an orthogonal update. Of the moments it uses the first.
void muon_step(const Muon& muon, const Group& group, const Update& update, Moments& moments,
               std::span<float> numbers);

}  // namespace vit::train
