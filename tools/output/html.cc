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

std::string html_page(const HtmlPage& page) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
      page.title + "</title>\n<style>";
  html.append(page.style).append("</style>\n<main>\n").append(page.body).append("</main>\n");
  if (!page.script.empty()) html.append("<script>").append(page.script).append("</script>\n");
  return html + "</html>\n";
}

}  // namespace vit::tools
