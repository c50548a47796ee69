/// The characters of bytes 0x80 to 0x9F in Windows-1252. The five bytes it leaves undefined stand
/// for the control characters of Latin-1, as browsers read them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

namespace vit::text {

inline constexpr std::array<char32_t, 32> kWindows1252{
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

/// The byte that stands for `c`; control characters from 0x80 stand for themselves.
inline std::optional<unsigned char> windows_1252_byte(char32_t c) {
  if (c < 0x100) return static_cast<unsigned char>(c);
  const auto* found = std::find(kWindows1252.begin(), kWindows1252.end(), c);
  if (found == kWindows1252.end()) return {};
  return static_cast<unsigned char>(0x80 + (found - kWindows1252.begin()));
}

}  // namespace vit::text
