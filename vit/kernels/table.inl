// The table of this instruction set. Included last.

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
    .linear = linear,
    .int8_linear = int8_linear,
    .int8_linear_without_vnni = int8_linear,
    .quantize_row = quantize_row,
    .product = product,
    .scores = scores,
};
