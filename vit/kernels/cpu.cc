#include "vit/kernels/cpu.h"

#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#endif

#include <algorithm>
#include <cstdlib>

#include "vit/base/error.h"

namespace vit {

#if defined(__x86_64__)
namespace {

/// Conversion of 16-bit floats. Clang 14 has no __builtin_cpu_supports("f16c").
bool has_f16c() {
  constexpr unsigned kLeaf = 1, kBit = 1u << 29;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(kLeaf, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kBit) != 0;
}

}  // namespace
#endif

std::vector<Isa> available_isas() {
  std::vector<Isa> found{Isa::kBaseline};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) found.push_back(Isa::kAvx);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c()) {
    found.push_back(Isa::kAvx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
      found.push_back(Isa::kAvx512);
  }
#endif
  return found;
}

#if defined(__x86_64__)
namespace {

/// Clang 14 has no __builtin_cpu_supports("avxvnni"). The system's support for the registers is
/// that for AVX2.
bool has_avx_vnni() {
  constexpr unsigned kLeaf = 7, kSubleaf = 1, kBit = 1u << 4;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(kLeaf, kSubleaf, &eax, &ebx, &ecx, &edx) != 0 && (eax & kBit) != 0;
}

/// The processor's word, and the permission of the system to use 8 KB of tile registers.
bool request_amx_bf16() {
#if defined(__linux__)
  constexpr unsigned kLeaf = 7, kBf16 = 1u << 22, kTiles = 1u << 24;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(kLeaf, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kBf16) == 0 || (edx & kTiles) == 0) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // asm/prctl.h, of Linux 5.16
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace
#endif

bool has_vnni([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return __builtin_cpu_supports("avx512vnni");
  if (isa == Isa::kAvx2) return has_avx_vnni();
#endif
  return false;
}

bool has_avx512_bf16() {
#if defined(__x86_64__)
  constexpr unsigned kLeaf = 7, kSubleaf = 1, kBit = 1u << 5;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return available_isas().back() == Isa::kAvx512 &&
         __get_cpuid_count(kLeaf, kSubleaf, &eax, &ebx, &ecx, &edx) != 0 && (eax & kBit) != 0;
#else
  return false;
#endif
}

bool has_amx_bf16() {
#if defined(__x86_64__)
  static const bool granted = request_amx_bf16();
  return granted;
#else
  return false;
#endif
}

std::size_t second_level_cache() {
  constexpr long kUsual = 512 * 1024, kLeast = 256 * 1024;
  long bytes = 0;
#if defined(_SC_LEVEL2_CACHE_SIZE)
  bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
  return static_cast<std::size_t>(bytes <= 0 ? kUsual : std::max(bytes, kLeast));
}

Isa choose_isa(const char* forced) {
  const std::vector<Isa> available = available_isas();
  if (forced == nullptr || *forced == '\0') return available.back();
  const auto isa = enum_named<Isa>(forced);
  if (!isa) fail("VIT_ISA=", forced, ": expected ", list_of_names<Isa>());
  if (std::find(available.begin(), available.end(), *isa) == available.end())
    fail("VIT_ISA=", forced, ": this machine does not have it; the best it has is ",
         to_string(available.back()));
  return *isa;
}

Isa active_isa() {
  static const Isa chosen = choose_isa(std::getenv("VIT_ISA"));
  return chosen;
}

}  // namespace vit
