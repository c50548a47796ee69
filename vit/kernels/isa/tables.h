/// What each file of this folder compiles for one instruction set. isa_kernels() puts the table of
/// a machine together from them.
#pragma once

#include "vit/kernels/isa_kernels.h"

namespace vit::isa {

const IsaKernels& baseline();
#if defined(__x86_64__)
const IsaKernels& avx();
const IsaKernels& avx2();
const IsaKernels& avx512();

// Processors with VNNI multiply and add bytes in one instruction.
void avx_vnni_int8_linear(const Int8Tile& tile);
void avx512_vnni_int8_linear(const Int8Tile& tile);

// Products of training in 16 bits.
void avx512_multiply_bf16(const MultiplyCall& call);
void amx_multiply_bf16(const MultiplyCall& call);
#endif

}  // namespace vit::isa
