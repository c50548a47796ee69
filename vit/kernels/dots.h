/// The products of one vector with many rows.
#pragma once

#include <cstdint>
#include <span>

#include "vit/base/matrix.h"
#include "vit/kernels/cpu.h"

namespace vit {

/// Rows of 16-bit floats (IEEE 754 binary16).
using ConstHalfView = BasicMatrixView<const std::uint16_t>;

/// dots[r] = rows[r] · y, in float, on the calling thread. The result for a row does not depend on
/// the other rows. Numbers of 16 bits must be finite.
void dot_rows(ConstMatrixView rows, std::span<const float> y, std::span<float> dots, Isa isa);
void dot_rows(ConstHalfView rows, std::span<const float> y, std::span<float> dots, Isa isa);

}  // namespace vit
