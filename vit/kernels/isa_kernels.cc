// One body, compiled once per instruction set in target regions: no compiler flag for the whole
// file, so no inline function of a header can leak wider instructions into code for older machines.
#include "vit/kernels/isa_kernels.h"

#include "vit/base/owners.h"

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

#include "vit/kernels/scores.inl"

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

#include "vit/kernels/scores.inl"

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

#include "vit/kernels/scores.inl"

#include "vit/kernels/int8_avx2.inl"

#include "vit/kernels/int8.inl"
#include "vit/kernels/table.inl"
}  // namespace
}  // namespace avx512
#pragma GCC pop_options

// The same with int8 products in one instruction, for processors that have it. Only int8_linear is
// taken from these.
#pragma GCC push_options
#pragma GCC target("avx2,fma,avxvnni")
namespace avx_vnni {
namespace {
constexpr size_t kLanes = 8, kTileRows = 6, kVnniLanes = 8;
inline auto add_products(auto sums, auto bytes, auto weights) {
  return reinterpret_cast<decltype(sums)>(
      _mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sums), reinterpret_cast<__m256i>(bytes),
                              reinterpret_cast<__m256i>(weights)));
}
#include "vit/kernels/vector.inl"

#include "vit/kernels/tile.inl"

#include "vit/kernels/int8_vnni.inl"

#include "vit/kernels/int8.inl"
}  // namespace
}  // namespace avx_vnni
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")
namespace avx512_vnni {
namespace {
constexpr size_t kLanes = 16, kTileRows = 12, kVnniLanes = 16;
inline auto add_products(auto sums, auto bytes, auto weights) {
  return reinterpret_cast<decltype(sums)>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums),
                                                              reinterpret_cast<__m512i>(bytes),
                                                              reinterpret_cast<__m512i>(weights)));
}
#include "vit/kernels/vector.inl"

#include "vit/kernels/tile.inl"

#include "vit/kernels/int8_vnni.inl"

#include "vit/kernels/int8.inl"
}  // namespace
}  // namespace avx512_vnni
#pragma GCC pop_options

namespace {

IsaKernels with_int8(IsaKernels kernels, bool available, void (*int8_linear)(const Int8Tile&)) {
  if (available) kernels.int8_linear = int8_linear;
  return kernels;
}

}  // namespace
#endif

const IsaKernels& isa_kernels(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kAvx512: {
      static const IsaKernels kernels =
          with_int8(avx512::kKernels, has_vnni(isa), avx512_vnni::int8_linear);
      return kernels;
    }
    case Isa::kAvx2: {
      static const IsaKernels kernels =
          with_int8(avx2::kKernels, has_vnni(isa), avx_vnni::int8_linear);
      return kernels;
    }
#endif
    default:
      return baseline::kKernels;
  }
}

}  // namespace vit
