#include <utility>

#include "vit/base/owners.h"
#include "vit/kernels/isa/tables.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace vit::isa {

#include "vit/kernels/target/avx512.inl"
namespace {
constexpr Isa kIsa = Isa::kAvx512;
constexpr size_t kLanes = 16, kTileRows = 12;  // 24 of the 32 registers accumulate
#include "vit/kernels/int8_avx2.inl"
#include "vit/kernels/kernels.inl"
}  // namespace
#include "vit/kernels/target/end.inl"

const IsaKernels& avx512() {
  return kKernels;
}

}  // namespace vit::isa
#endif
