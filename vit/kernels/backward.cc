// One body, compiled once per instruction set, as in isa_kernels.cc.
#include "vit/kernels/backward.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vit {

namespace backward_baseline {
namespace {
constexpr size_t kLanes = 4;
#include "vit/kernels/vector.inl"

#include "vit/kernels/backward.inl"
}  // namespace
}  // namespace backward_baseline

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace backward_avx2 {
namespace {
constexpr size_t kLanes = 8;
#include "vit/kernels/vector.inl"

#include "vit/kernels/backward.inl"
}  // namespace
}  // namespace backward_avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
namespace backward_avx512 {
namespace {
constexpr size_t kLanes = 16;
#include "vit/kernels/vector.inl"

#include "vit/kernels/backward.inl"
}  // namespace
}  // namespace backward_avx512
#pragma GCC pop_options
#endif

const BackwardKernels& backward_kernels(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kAvx512:
      return backward_avx512::kKernels;
    case Isa::kAvx2:
      return backward_avx2::kKernels;
#endif
    default:
      return backward_baseline::kKernels;
  }
}

}  // namespace vit
