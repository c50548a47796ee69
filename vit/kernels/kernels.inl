// All kernels of one instruction set, as the table kKernels. The files of isa/
// include this file, each for one instruction set, in an anonymous namespace inside a target
// region (target/*.inl). None of the files below is compiled by itself.
//
// The including namespace defines before:
//   kIsa       the instruction set that the table is for
//   kLanes     floats in a vector register: 4, 8 or 16
//   kTileRows  rows of a register tile; 2·kTileRows accumulators, two vectors of weights and one
//              broadcast number fit into the registers
// and includes one of the files int8_*.inl, which defines kInt8Rows, kInt8Panels and int8_sums().

#include "vit/kernels/linear.inl"

#include "vit/kernels/rowwise.inl"

#include "vit/kernels/dots.inl"

#include "vit/kernels/backward.inl"
#include "vit/kernels/transpose.inl"

#include "vit/kernels/multiply.inl"
#include "vit/kernels/scores.inl"

const IsaKernels kKernels{
    .isa = kIsa,
    .panel_width = kPanelWidth,
    .layer_norm_row = layer_norm_row,
    .rms_norm_row = rms_norm_row,
    .activation_row = activation_row,
    .gate_row = gate_row,
    .add_row = add_row,
    .exp_row = exp_row,
    .scale_row = scale_row,
    .rotate_neighbours = rotate_neighbours,
    .rotate_halves = rotate_halves,
    .dot_rows = dot_rows<float>,
    .dot_half_rows = dot_rows<std::uint16_t>,
    .linear = linear,
    .int8_linear = int8_linear,
    .int8_linear_without_vnni = int8_linear,
    .quantize_row = quantize_row,
    .product = product,
    .scores = scores,
    .multiply = multiply,
    .multiply_bf16 = nullptr,
    .multiply_bf16_without_amx = nullptr,
    .backward = {.layer_norm = backward::layer_norm,
                 .rms_norm = backward::rms_norm,
                 .activation = backward::activation,
                 .softmax = backward::softmax},
};
