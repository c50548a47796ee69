// One body, compiled once per instruction set in target regions: no compiler flag for the whole
// file, so no inline function of a header can leak wider instructions into code for older machines.
#include "vit/kernels/isa_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vit {

namespace baseline {
namespace {
constexpr Isa kIsa = Isa::kBaseline;
constexpr size_t kLanes = 4;
constexpr size_t kTileRows = 4;
#include "vit/kernels/vector.inl"

#include "vit/kernels/rowwise.inl"
#include "vit/kernels/tile.inl"

#include "vit/kernels/int8_portable.inl"

#include "vit/kernels/int8.inl"
#include "vit/kernels/table.inl"
}  // namespace
}  // namespace baseline

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
namespace {
constexpr Isa kIsa = Isa::kAvx2;
constexpr size_t kLanes = 8;
constexpr size_t kTileRows = 6;  // 12 of the 16 registers accumulate
#include "vit/kernels/vector.inl"

#include "vit/kernels/rowwise.inl"
#include "vit/kernels/tile.inl"

#include "vit/kernels/int8_avx2.inl"

#include "vit/kernels/int8.inl"
#include "vit/kernels/table.inl"
}  // namespace
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
namespace avx512 {
namespace {
constexpr Isa kIsa = Isa::kAvx512;
constexpr size_t kLanes = 16;
constexpr size_t kTileRows = 12;  // 24 of the 32 registers accumulate
#include "vit/kernels/vector.inl"

#include "vit/kernels/rowwise.inl"
#include "vit/kernels/tile.inl"

#include "vit/kernels/int8_avx2.inl"

#include "vit/kernels/int8.inl"
#include "vit/kernels/table.inl"
}  // namespace
}  // namespace avx512
#pragma GCC pop_options
#endif

const IsaKernels& isa_kernels(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kAvx512:
      return avx512::kKernels;
    case Isa::kAvx2:
      return avx2::kKernels;
#endif
    default:
      return baseline::kKernels;
  }
}

}  // namespace vit
