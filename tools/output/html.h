/// Pages, and escaping of text for HTML; base64, for data: URLs, is in vit/base/encoding.h.
#pragma once

#include <string>
#include <string_view>

#include "vit/base/encoding.h"

namespace vit::tools {

/// Text for HTML and its quoted attributes.
std::string html_escaped(std::string_view text);
/// A file name as a relative URL.
std::string url_escaped(std::string_view name);

struct HtmlPage {
  std::string title;       ///< escaped
  std::string_view style;  ///< CSS
  std::string body;        ///< the content of <main>, lines of HTML
  std::string_view script = {};
};
/// A document that needs no other file for its looks.
std::string html_page(const HtmlPage& page);

}  // namespace vit::tools
