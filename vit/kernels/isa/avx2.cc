#include <utility>

#include "vit/base/owners.h"
#include "vit/kernels/isa/tables.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace vit::isa {

#include "vit/kernels/target/avx2.inl"
namespace {
constexpr Isa kIsa = Isa::kAvx2;
constexpr size_t kLanes = 8, kTileRows = 6;  // 12 of the 16 registers accumulate
#include "vit/kernels/int8_avx2.inl"
#include "vit/kernels/kernels.inl"
}  // namespace
#include "vit/kernels/target/end.inl"

const IsaKernels& avx2() {
  return kKernels;
}

}  // namespace vit::isa
#endif
