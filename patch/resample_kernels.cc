#include "patch/resample_kernels.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vit::patch {
namespace {

using Bytes16 = std::uint8_t __attribute__((vector_size(16)));
/// Eight sums. Wider than the baseline's registers, so it travels by reference: by value it has no
/// fixed ABI.
using Sums = std::uint32_t __attribute__((vector_size(32)));

}  // namespace

namespace baseline {
namespace {

using Bytes8 = std::uint8_t __attribute__((vector_size(8)));
using Shorts8 = std::uint16_t __attribute__((vector_size(16)));

/// Eight bytes as eight numbers. In two steps, which g++ knows instructions for.
inline void widen(const std::uint8_t* bytes, Sums& wide) {
  Bytes8 narrow;
  std::memcpy(&narrow, bytes, sizeof narrow);
  wide = __builtin_convertvector(__builtin_convertvector(narrow, Shorts8), Sums);
}

/// Without the fraction, at least 0 and at most 255.
inline void store_clipped(const Sums& low, const Sums& high, std::uint8_t* out) {
  std::int32_t sums[16];
  std::memcpy(sums, &low, sizeof low);
  std::memcpy(sums + 8, &high, sizeof high);
  for (size_t i = 0; i < 16; ++i)
    out[i] = static_cast<std::uint8_t>(std::clamp(sums[i] >> kWeightBits, 0, 255));
}

#include "patch/resample_kernels.inl"
}  // namespace
}  // namespace baseline

#if defined(__x86_64__)
#include "vit/kernels/target/avx2.inl"
namespace avx2 {
namespace {

inline void widen(const std::uint8_t* bytes, Sums& wide) {
  const __m128i narrow = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
  wide = reinterpret_cast<Sums>(_mm256_cvtepu8_epi32(narrow));
}

inline void store_clipped(const Sums& low, const Sums& high, std::uint8_t* out) {
  const __m256i first = _mm256_srai_epi32(reinterpret_cast<__m256i>(low), kWeightBits);
  const __m256i second = _mm256_srai_epi32(reinterpret_cast<__m256i>(high), kWeightBits);
  // Packing works in halves of 128 bits; 0xd8 puts the quarters back in order.
  const __m256i shorts = _mm256_permute4x64_epi64(_mm256_packs_epi32(first, second), 0xd8);
  const __m128i bytes =
      _mm_packus_epi16(_mm256_castsi256_si128(shorts), _mm256_extracti128_si256(shorts, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
}

#include "patch/resample_kernels.inl"
}  // namespace
}  // namespace avx2
#include "vit/kernels/target/end.inl"
#endif

const ResampleKernels& resample_kernels(Isa isa) {
#if defined(__x86_64__)
  if (isa >= Isa::kAvx2) return avx2::kKernels;
#endif
  (void)isa;
  return baseline::kKernels;
}

}  // namespace vit::patch
