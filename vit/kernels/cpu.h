/// Which instruction sets this machine has, and which one the kernels use.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "vit/base/enum_names.h"

namespace vit {

/// In rising order: a machine that has one has all before it. The baseline is what every machine of
/// the compiled architecture has, in vectors of 128 bits.
enum class Isa { kBaseline, kAvx, kAvx2, kAvx512 };
constexpr auto enum_names(Isa) {
  using enum Isa;
  return std::to_array<EnumName<Isa>>(
      {{kBaseline, "baseline"}, {kAvx, "avx"}, {kAvx2, "avx2"}, {kAvx512, "avx512"}});
}

/// All that this machine can run, the best last.
std::vector<Isa> available_isas();

/// Whether the machine multiplies and adds bytes in one instruction of this set's width.
bool has_vnni(Isa isa);

/// Whether the machine multiplies and adds pairs of bfloat16 numbers, in vectors of 512 bits and in
/// AMX tiles. The second one asks the system for the tiles, once.
bool has_avx512_bf16();
bool has_amx_bf16();

/// Bytes of a core's second-level cache, or what is usual where the system does not say.
std::size_t second_level_cache();

/// The best available one, or the one that the environment variable VIT_ISA names. Read once;
/// throws an Error if it names none, or one that this machine lacks.
Isa active_isa();

/// What active_isa() makes of VIT_ISA's value (null: not set).
Isa choose_isa(const char* forced);

}  // namespace vit
