/// Small text helpers: case, whole-text numbers, endings of names, digits in groups.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace vit {

/// ASCII letters in lower case; other bytes stay as they are, whatever the locale.
std::string lower(std::string_view text);

/// The number that the whole text is, else none. No blanks, no '+', no locale.
template <typename T>
std::optional<T> to_number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

/// The same in digits of another base, of integers.
template <typename T>
std::optional<T> to_number(std::string_view text, int base) {
  T value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, base);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

/// The ending of a file name in lower case, with its dot: ".gz" of "a/b.tar.GZ". Empty for
/// "README", "b." and ".profile".
std::string ending_of(std::string_view path);

/// "86,567,656"
std::string format_count(std::uint64_t count);

}  // namespace vit
