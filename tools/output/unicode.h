/// UTF-8 for aligned columns and safe terminals.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace vit::tools {

using std::size_t;

/// Removes one code point from the front; none, and one byte removed, if it is not UTF-8.
std::optional<char32_t> take_code_point(std::string_view& text);

/// The text with control characters and bytes that are not UTF-8 as \n, \t, \xNN.
std::string printable(std::string_view text);

/// Terminal columns of printable text: 2 for East Asian wide characters and emoji, 0 for accents
/// that combine with the character before them.
size_t display_width(std::string_view text);

/// Exactly `width` columns: filled up with blanks, or cut with "…" at the end.
std::string fit(std::string_view text, size_t width);

/// At least `width` columns: blanks, then the text.
std::string padded(std::string_view text, size_t width);

}  // namespace vit::tools
