#include <utility>

#include "vit/base/owners.h"
#include "vit/kernels/isa/tables.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace vit::isa {

#include "vit/kernels/target/avx.inl"
namespace {
constexpr Isa kIsa = Isa::kAvx;
constexpr size_t kLanes = 8, kTileRows = 6;  // 12 of the 16 registers accumulate
#include "vit/kernels/int8_portable.inl"
#include "vit/kernels/kernels.inl"
}  // namespace
#include "vit/kernels/target/end.inl"

const IsaKernels& avx() {
  return kKernels;
}

}  // namespace vit::isa
#endif
