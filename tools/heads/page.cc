#include <string_view>

#include "tools/draw/heatmap.h"
#include "tools/heads/output.h"
#include "tools/output/format.h"
#include "tools/output/html.h"

namespace vit::tools {
namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--ink:#1c1e22;--faint:#667080;--paper:#fafaf8;--rule:#e4e5e2}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e9ebee;--faint:#98a1ad;--paper:#131518;"
    "--rule:#2c3037}}"
    "body{margin:0 auto;max-width:1280px;padding:28px 20px;background:var(--paper);"
    "color:var(--ink);font:15px/1.5 system-ui,sans-serif}"
    "h1{font-size:20px;margin:0 0 4px}p{margin:0 0 18px;color:var(--faint)}"
    "img{width:100%;border:1px solid var(--rule);border-radius:8px;background:#fff}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;margin-top:20px;"
    "font-variant-numeric:tabular-nums;font-size:14px}"
    "th{text-align:right;color:var(--faint);font-weight:600;font-size:12px;padding:6px 10px;"
    "border-bottom:1px solid var(--rule);white-space:nowrap;cursor:pointer}"
    "td{text-align:right;padding:4px 10px;border-bottom:1px solid var(--rule)}"
    ".left{text-align:left}tr.dead td{color:var(--faint)}";

/// Sorts the table by the column whose name is clicked, numbers as numbers.
constexpr std::string_view kScript =
    "document.querySelectorAll('th').forEach((th,i)=>{th.tabIndex=0;const sort=()=>{"
    "const body=document.querySelector('tbody'),down=th.getAttribute('aria-sort')!=='descending';"
    "document.querySelectorAll('th').forEach(o=>o.removeAttribute('aria-sort'));"
    "th.setAttribute('aria-sort',down?'descending':'ascending');"
    "const key=r=>{const t=r.cells[i].dataset.value??r.cells[i].textContent;"
    "return isNaN(t)||t===''?t:+t};"
    "[...body.rows].sort((a,b)=>{const x=key(a),y=key(b),c=x<y?-1:x>y?1:0;return down?-c:c})"
    ".forEach(r=>body.append(r))};th.addEventListener('click',sort);"
    "th.addEventListener('keydown',e=>{if(e.key==='Enter')sort()})})";

std::string cell(const char* format, double value, bool known = true) {
  if (!known) return "<td>–</td>";
  return "<td data-value=\"" + formatted("%.9g", value) + "\">" + formatted(format, value) +
         "</td>";
}

std::string row_html(const HeadReport& report, const interpret::HeadSummary& head) {
  const bool ablated = report.ablated != 0;
  const double order = static_cast<double>(head.id.layer * report.heads + head.id.head);
  std::string html = std::string("<tr") + (head.dead ? " class=\"dead\"" : "") + ">";
  html += "<td data-value=\"" + formatted("%g", order) + "\">" + head_name(head.id) + "</td>";
  html += cell("%.1f", head.distance) + cell("%.2f", head.entropy) +
          cell("%.1f %%", 100.0 * head.prefix_mass);
  html += "<td class=\"left\">" + html_escaped(interpret::describe(head.pattern, report.layout)) +
          "</td>" + cell("%.2f", head.pattern.score);
  html += cell("%.4f", head.divergence, ablated) + cell("%.1f %%", 100.0 * head.flips, ablated) +
          cell("%.4f", head.estimate, report.estimated != 0);
  return html + "<td class=\"left\">" + notes_on(report, head) + "</td></tr>\n";
}

}  // namespace

std::string heads_page(const NamedReport& named) {
  const HeadReport& report = named.report;
  const std::string model = html_escaped(named.model);
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
      model + ": heads</title>\n<style>" + std::string(kStyle) + "</style>\n<h1>" + model +
      "</h1>\n<p>" + std::to_string(report.layers) + " layers of " + std::to_string(report.heads) +
      " heads over " + std::to_string(report.images) + " images; importance measured on " +
      std::to_string(report.ablated) +
      " of them by disabling each head</p>\n<img alt=\"Attention distance by depth, and importance "
      "of each head\" src=\"data:image/png;base64," +
      base64(encode_picture(heads_plots(named), ".png")) +
      "\">\n<div class=\"scroll\"><table>\n<thead><tr>";
  for (const auto* name : {"head", "distance (px)", "entropy (bits)", "on prefix"})
    html += std::string("<th scope=\"col\">") + name + "</th>";
  html += "<th scope=\"col\" class=\"left\">pattern</th>";
  for (const auto* name : {"score", "KL without", "top-1 changed", "estimate"})
    html += std::string("<th scope=\"col\">") + name + "</th>";
  html += "<th scope=\"col\" class=\"left\">notes</th></tr></thead>\n<tbody>\n";
  for (const auto& head : report.summaries) html += row_html(report, head);
  return html + "</tbody>\n</table></div>\n<script>" + std::string(kScript) +
         "</script>\n</html>\n";
}

}  // namespace vit::tools
