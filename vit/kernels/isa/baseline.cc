#include <utility>

#include "vit/base/owners.h"
#include "vit/kernels/isa/tables.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vit::isa {

namespace {
constexpr Isa kIsa = Isa::kBaseline;
// 8 accumulators and a product on their way to them fit into the 16 registers of SSE2; AArch64 has
// 32 registers and needs none for the product.
#if defined(__aarch64__)
constexpr size_t kLanes = 4, kTileRows = 12;
#else
constexpr size_t kLanes = 4, kTileRows = 4;
#endif
#include "vit/kernels/int8_portable.inl"
#include "vit/kernels/kernels.inl"
}  // namespace

const IsaKernels& baseline() {
  return kKernels;
}

}  // namespace vit::isa
