/// Text and bytes as HTML needs them.
#pragma once

#include <string>
#include <string_view>

namespace vit::tools {

/// Text for HTML and its quoted attributes.
std::string html_escaped(std::string_view text);
/// A file name as a relative URL.
std::string url_escaped(std::string_view name);
/// For data: URLs.
std::string base64(std::string_view bytes);

}  // namespace vit::tools
