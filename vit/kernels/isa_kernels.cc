// One body, compiled once per instruction set in a target region. A compiler flag for a whole file
// would let inline functions of headers leak wider instructions into code for older machines.
#include "vit/kernels/isa_kernels.h"

#include <utility>

#include "vit/base/owners.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vit {

namespace baseline {
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
}  // namespace baseline

#if defined(__x86_64__)
#include "vit/kernels/target/avx.inl"
namespace avx {
namespace {
constexpr Isa kIsa = Isa::kAvx;
constexpr size_t kLanes = 8, kTileRows = 6;  // 12 of the 16 registers accumulate
#include "vit/kernels/int8_portable.inl"
#include "vit/kernels/kernels.inl"
}  // namespace
}  // namespace avx
#include "vit/kernels/target/end.inl"

#include "vit/kernels/target/avx2.inl"
namespace avx2 {
namespace {
constexpr Isa kIsa = Isa::kAvx2;
constexpr size_t kLanes = 8, kTileRows = 6;  // 12 of the 16 registers accumulate
#include "vit/kernels/int8_avx2.inl"
#include "vit/kernels/kernels.inl"
}  // namespace
}  // namespace avx2
#include "vit/kernels/target/end.inl"

#include "vit/kernels/target/avx512.inl"
namespace avx512 {
namespace {
constexpr Isa kIsa = Isa::kAvx512;
constexpr size_t kLanes = 16, kTileRows = 12;  // 24 of the 32 registers accumulate
#include "vit/kernels/int8_avx2.inl"
#include "vit/kernels/kernels.inl"
}  // namespace
}  // namespace avx512
#include "vit/kernels/target/end.inl"

// Processors with VNNI multiply and add bytes in one instruction. Only int8_linear is taken from
// these regions.
#include "vit/kernels/target/avx_vnni.inl"
namespace avx_vnni {
namespace {
constexpr Isa kIsa = Isa::kAvx2;
constexpr size_t kLanes = 8, kTileRows = 6;
#include "vit/kernels/int8_vnni.inl"
#include "vit/kernels/linear.inl"
}  // namespace
}  // namespace avx_vnni
#include "vit/kernels/target/end.inl"

#include "vit/kernels/target/avx512_vnni.inl"
namespace avx512_vnni {
namespace {
constexpr Isa kIsa = Isa::kAvx512;
constexpr size_t kLanes = 16, kTileRows = 12;
#include "vit/kernels/int8_vnni.inl"
#include "vit/kernels/linear.inl"
}  // namespace
}  // namespace avx512_vnni
#include "vit/kernels/target/end.inl"

// Products of training in 16 bits. Only multiply_bf16 is taken from these regions.
#include "vit/kernels/target/avx512_bf16.inl"
namespace avx512_bf16 {
namespace {
constexpr Isa kIsa = Isa::kAvx512;
constexpr size_t kLanes = 16;

#include "vit/kernels/vector.inl"

#include "vit/kernels/transpose.inl"

#include "vit/kernels/bf16_vector.inl"

#include "vit/kernels/bf16.inl"
}  // namespace
}  // namespace avx512_bf16
#include "vit/kernels/target/end.inl"

#include "vit/kernels/target/amx_bf16.inl"
namespace amx_bf16 {
namespace {
constexpr Isa kIsa = Isa::kAvx512;
constexpr size_t kLanes = 16;

#include "vit/kernels/vector.inl"

#include "vit/kernels/transpose.inl"

#include "vit/kernels/bf16_amx.inl"

#include "vit/kernels/bf16.inl"
}  // namespace
}  // namespace amx_bf16
#include "vit/kernels/target/end.inl"

namespace {

IsaKernels with_int8(IsaKernels kernels, bool available, void (*int8_linear)(const Int8Tile&)) {
  if (available) kernels.int8_linear = int8_linear;
  return kernels;
}

IsaKernels with_bf16(IsaKernels kernels) {
  if (has_avx512_bf16())
    kernels.multiply_bf16 = kernels.multiply_bf16_without_amx = avx512_bf16::multiply_bf16;
  if (has_avx512_bf16() && has_amx_bf16()) kernels.multiply_bf16 = amx_bf16::multiply_bf16;
  return kernels;
}

}  // namespace
#endif

const IsaKernels& isa_kernels(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kAvx512: {
      static const IsaKernels kernels =
          with_bf16(with_int8(avx512::kKernels, has_vnni(isa), avx512_vnni::int8_linear));
      return kernels;
    }
    case Isa::kAvx2: {
      static const IsaKernels kernels =
          with_int8(avx2::kKernels, has_vnni(isa), avx_vnni::int8_linear);
      return kernels;
    }
    case Isa::kAvx:
      return avx::kKernels;
#endif
    default:
      return baseline::kKernels;
  }
}

}  // namespace vit
