#include "tools/attention/index_page.h"

#include <string_view>

#include "tools/output/html.h"

namespace vit::tools {
namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--ink:#1c1e22;--faint:#6b7280;--paper:#fbfbfa;--rule:#e3e5e9}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--faint:#9aa1ab;--paper:#16181c;"
    "--rule:#2b2f36}}"
    "body{margin:0 auto;max-width:1200px;padding:32px 20px;background:var(--paper);"
    "color:var(--ink);font:15px/1.5 system-ui,sans-serif}"
    "h1{font-size:20px;margin:0 0 24px}h1 span{color:var(--faint);font-weight:400}"
    "ul{list-style:none;padding:0;display:grid;gap:28px 20px;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,520px),1fr))}"
    "img{width:100%;border-radius:6px;border:1px solid var(--rule);display:block}"
    "a{color:inherit;text-decoration:none}a:hover b,a:focus b{text-decoration:underline}"
    "small{color:var(--faint);overflow-wrap:anywhere}p{margin:8px 0 0}";

bool is_picture(std::string_view name) {
  return name.ends_with(".png") || name.ends_with(".jpg") || name.ends_with(".jpeg") ||
         name.ends_with(".svg");
}

std::string entry_html(const IndexEntry& entry) {
  const std::string link = url_escaped(entry.output), answer = html_escaped(entry.answer);
  std::string html = "<li>";
  if (!entry.output.empty()) html += "<a href=\"" + link + "\">";
  if (is_picture(entry.output))
    html += "<img loading=\"lazy\" src=\"" + link + "\" alt=\"" + answer + "\">";
  html += "<p><b>" + answer + "</b><br><small>" + html_escaped(entry.image) + "</small></p>";
  if (!entry.output.empty()) html += "</a>";
  return html + "</li>\n";
}

}  // namespace

std::string index_page(const std::string& model, const std::vector<IndexEntry>& entries) {
  std::string body = "<h1>Attention <span>" + html_escaped(model) + ", " +
                     std::to_string(entries.size()) + (entries.size() == 1 ? " image" : " images") +
                     "</span></h1>\n<ul>\n";
  for (const IndexEntry& entry : entries) body += entry_html(entry);
  return html_page(
      {.title = html_escaped(model) + ": attention", .style = kStyle, .body = body + "</ul>\n"});
}

}  // namespace vit::tools
