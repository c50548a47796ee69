/// Bytes and numbers as text: hexadecimal and base64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vit {

/// Bytes as lower-case hexadecimal digits, and back; none where they are not.
std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view digits);
/// The last `digits` hexadecimal digits of a number, lower-case, with leading zeros.
std::string hex_number(std::uint64_t number, std::size_t digits = 16);

/// With '=' at its end.
std::string base64(std::string_view bytes);
/// The bytes of such a text, with or without '=' at its end; none where it is malformed.
std::optional<std::string> from_base64(std::string_view text);
/// The bytes of the digits before the first character that is none. `text` becomes what is left;
/// bits that are no whole byte are dropped.
std::string take_base64(std::string_view& text);

}  // namespace vit
