#include "vit/kernels/isa_kernels.h"

#include "vit/kernels/isa/tables.h"

namespace vit {
namespace {

#if defined(__x86_64__)
IsaKernels avx2_kernels() {
  IsaKernels kernels = isa::avx2();
  if (has_vnni(Isa::kAvx2)) kernels.int8_linear = isa::avx_vnni_int8_linear;
  return kernels;
}

IsaKernels avx512_kernels() {
  IsaKernels kernels = isa::avx512();
  if (has_vnni(Isa::kAvx512)) kernels.int8_linear = isa::avx512_vnni_int8_linear;
  if (!has_avx512_bf16()) return kernels;
  kernels.multiply_bf16 = kernels.multiply_bf16_without_amx = isa::avx512_multiply_bf16;
  if (has_amx_bf16()) kernels.multiply_bf16 = isa::amx_multiply_bf16;
  return kernels;
}
#endif

}  // namespace

const IsaKernels& isa_kernels(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kAvx512: {
      static const IsaKernels kernels = avx512_kernels();
      return kernels;
    }
    case Isa::kAvx2: {
      static const IsaKernels kernels = avx2_kernels();
      return kernels;
    }
    case Isa::kAvx:
      return isa::avx();
#endif
    default:
      return isa::baseline();
  }
}

}  // namespace vit
