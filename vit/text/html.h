/// Character references of HTML: "&amp;", "&#233;", "&copy".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vit::text {

/// Every reference replaced, as Python's html.unescape does: names may lack their semicolon where
/// HTML allows it, the longest name wins, and unknown references stay as they are.
std::u32string unescape_html(std::u32string_view text);

/// The characters of a named reference without its '&' ("eacute;"), or nothing.
std::optional<std::u32string> html_entity(std::u32string_view name);

}  // namespace vit::text
