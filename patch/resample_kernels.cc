#include "patch/resample_kernels.h"

#include <cstring>

namespace vit::patch {
namespace baseline {
#include "patch/resample_kernels.inl"
}  // namespace baseline

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#include "patch/resample_kernels.inl"
}  // namespace avx2
#pragma GCC pop_options
#endif

const ResampleKernels& resample_kernels(Isa isa) {
#if defined(__x86_64__)
  if (isa >= Isa::kAvx2) return avx2::kKernels;
#endif
  (void)isa;
  return baseline::kKernels;
}

}  // namespace vit::patch
