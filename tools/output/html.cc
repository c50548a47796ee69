#include "tools/output/html.h"

#include <cctype>

namespace vit::tools {
std::string html_escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string url_escaped(std::string_view name) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string url;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~')
      url += c;
    else
      url += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
  }
  return url;
}

}  // namespace vit::tools
