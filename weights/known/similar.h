/// What a mistyped name of a model may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vit::weights {

using std::size_t;

/// How far two names are apart, smaller is nearer. What follows the typed letters counts
/// little: names of models end in sizes and datasets that people leave out.
struct NameDistance {
  size_t beginning = 0;  ///< edits from the typed letters to the nearest beginning of the name
  size_t whole = 0;      ///< edits to all of it
  auto operator<=>(const NameDistance&) const = default;
};
NameDistance name_distance(std::string_view typed, std::string_view name);

/// The model of the catalogue that was most likely meant; empty if none is near.
std::string meant_model(std::string_view typed);

}  // namespace vit::weights
