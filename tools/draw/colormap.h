/// Colour maps.
#pragma once

#include <array>
#include <cstdint>

#include "vit/base/enum_names.h"

namespace vit::tools {

enum class Colormap { kInferno, kViridis, kTurbo, kGray };

constexpr auto enum_names(Colormap) {
  using enum Colormap;
  return std::to_array<EnumName<Colormap>>(
      {{kInferno, "inferno"}, {kViridis, "viridis"}, {kTurbo, "turbo"}, {kGray, "gray"}});
}

/// Red, green, blue.
using Colour = std::array<std::uint8_t, 3>;

/// The colour of `value`, clamped to 0 … 1.
Colour colour_of(Colormap map, double value);

/// The colours of 256 even steps from 0 to 1.
using Palette = std::array<Colour, 256>;
Palette palette(Colormap map);

}  // namespace vit::tools
