/// Names of enumerators. One table beside an enum gives to_string(), parsing and the list of
/// choices:
///
///   enum class NormKind { kLayerNorm, kRmsNorm };
///   constexpr auto enum_names(NormKind) {
///     using enum NormKind;
///     return std::to_array<EnumName<NormKind>>({{kLayerNorm, "layer_norm"}, …});
///   }
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace vit {

template <typename Enum>
using EnumName = std::pair<Enum, std::string_view>;

/// An enum whose namespace has its enum_names().
template <typename Enum>
concept NamedEnum = requires(Enum value) {
  enum_names(value);
};

template <NamedEnum Enum>
constexpr std::string_view to_string(Enum value) {
  for (const auto& [known, name] : enum_names(value))
    if (known == value) return name;
  assert(false && "an enumerator without a name");
  return "?";
}

/// The enumerator with this name, if there is one.
template <NamedEnum Enum>
constexpr std::optional<Enum> enum_named(std::string_view text) {
  for (const auto& [value, name] : enum_names(Enum{}))
    if (name == text) return value;
  return std::nullopt;
}

/// All names, for messages: "mean, max or min".
template <NamedEnum Enum>
std::string list_of_names() {
  constexpr auto kNames = enum_names(Enum{});
  std::string list;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (i != 0) list += i + 1 == kNames.size() ? " or " : ", ";
    list += kNames[i].second;
  }
  return list;
}

}  // namespace vit
