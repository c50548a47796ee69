/// Escaping of text and bytes for HTML.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vit::tools {

/// Text for HTML and its quoted attributes.
std::string html_escaped(std::string_view text);
/// A file name as a relative URL.
std::string url_escaped(std::string_view name);
/// For data: URLs.
std::string base64(std::string_view bytes);
/// The bytes of such a text, with or without '=' at its end; none if it is malformed.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace vit::tools
