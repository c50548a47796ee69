/// Numbers to colours.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vit::interpret {

enum class Colormap { kInferno, kViridis, kTurbo, kGray };

constexpr std::array<Colormap, 4> kColormaps{Colormap::kInferno, Colormap::kViridis,
                                             Colormap::kTurbo, Colormap::kGray};

std::string_view to_string(Colormap map);

/// Red, green, blue.
using Colour = std::array<std::uint8_t, 3>;

/// The colour of `value`, which is taken as 0 or 1 where it lies beyond them.
Colour colour_of(Colormap map, double value);

/// The colours of 256 even steps from 0 to 1.
using Palette = std::array<Colour, 256>;
Palette palette(Colormap map);

}  // namespace vit::interpret
