/// "Did you mean …?"
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace vit::tools {

using std::size_t;

/// Fewest insertions, deletions, replacements and swaps of neighbours that turn one into the other.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that was most likely meant, empty if none is near. A unique prefix of a
/// candidate means that candidate.
std::string nearest(std::string_view typed, std::span<const std::string> candidates);

}  // namespace vit::tools
