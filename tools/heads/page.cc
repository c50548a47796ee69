#include <array>
#include <string_view>

#include "tools/heads/output.h"
#include "tools/output/format.h"
#include "tools/output/html.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1c1e22; --faint: #667080; --paper: #fafaf8; --card: #fff;
  --rule: #e4e5e2; --accent: #0d766e; --p-diagonal: #2f6fde; --p-offset: #8a4fd3;
  --p-vertical: #d97706; --p-block: #128a5b; --p-mixed: #c3c7cd; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9ebee; --faint: #98a1ad; --paper: #131518;
  --card: #1b1e23; --rule: #2c3037; --accent: #2dd4bf; --p-diagonal: #6ea0ff; --p-offset: #b68cf0;
  --p-vertical: #f0a34a; --p-block: #4cc38f; --p-mixed: #4b525d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1280px; padding: 28px 20px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 0; }
p { margin: 0; color: var(--faint); font-size: 13px; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 12px;
  padding: 16px 18px; margin-top: 18px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 0 18px; }
svg { display: block; width: 100%; height: auto; margin-top: 10px; }
svg text { fill: var(--faint); font-size: 12px; }
.rule { stroke: var(--rule); } .dot { fill: var(--accent); fill-opacity: .6; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 13px; color: var(--faint); }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 5px; }
.scroll { overflow-x: auto; margin-top: 10px; }
.matrices { display: grid; gap: 8px; align-items: start; grid-template-columns: repeat(var(--columns), minmax(72px, 1fr)); }
.matrices button { all: unset; cursor: zoom-in; font-size: 11px; color: var(--faint);
  text-align: center; line-height: 1.3; border-radius: 6px; }
.matrices button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.matrices img, dialog img { display: block; width: 100%; aspect-ratio: 1; border-radius: 4px; }
img { image-rendering: pixelated; }
dialog { border: 1px solid var(--rule); border-radius: 12px; background: var(--card);
  color: var(--ink); padding: 16px; width: min(92vw, 82vh); }
dialog::backdrop { background: #0008; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th { text-align: right; color: var(--faint); font-weight: 600; font-size: 12px; padding: 6px 10px;
  border-bottom: 1px solid var(--rule); white-space: nowrap; cursor: pointer; }
th:hover, th:focus { color: var(--ink); }
th[aria-sort=descending]::after { content: " ↓"; } th[aria-sort=ascending]::after { content: " ↑"; }
td { text-align: right; padding: 4px 10px; border-bottom: 1px solid var(--rule); }
.left { text-align: left; } tr.dead td { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 14px; margin: 12px 0 0;
  font-size: 13px; }
dt { font-weight: 600; } dd { margin: 0; color: var(--faint); }
@media (max-width: 640px) { body { padding: 16px 10px; } section { padding: 12px; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: 6px; } }
)";

/// Sorts the table by the column whose name is clicked, numbers as numbers; enlarges a matrix.
constexpr std::string_view kScript = R"(
document.querySelectorAll('th').forEach((th, i) => {
  th.tabIndex = 0;
  const sort = () => {
    const body = document.querySelector('tbody'), down = th.getAttribute('aria-sort') !== 'descending';
    document.querySelectorAll('th').forEach(other => other.removeAttribute('aria-sort'));
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const key = row => {
      const text = row.cells[i].dataset.value ?? row.cells[i].textContent;
      return isNaN(text) || text === '' ? text : +text;
    };
    [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b), order = x < y ? -1 : x > y ? 1 : 0;
      return down ? -order : order;
    }).forEach(row => body.append(row));
  };
  th.addEventListener('click', sort);
  th.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); });
});
const large = document.querySelector('dialog');
document.querySelectorAll('.matrices button').forEach(button => button.addEventListener('click', () => {
  large.querySelector('img').src = button.querySelector('img').src;
  large.querySelector('img').alt = button.querySelector('img').alt;
  large.querySelector('p').textContent = button.querySelector('img').alt;
  large.showModal();
}));
large.addEventListener('click', () => large.close());
)";

struct Column {
  const char* name;
  const char* meaning;
  bool left = false;
};
constexpr std::array<Column, 10> kColumns{{
    {"head", "layer and head, both counted from 0"},
    {"distance (px)",
     "how far a patch looks: the distance between query and key, weighted by the attention, in "
     "pixels of the model's input"},
    {"entropy (bits)",
     "how widely the attention spreads: 0 is a single token, the logarithm of the number of tokens "
     "is all tokens equally"},
    {"on prefix", "attention of the patches to class and register tokens"},
    {"pattern",
     "what the mean matrix looks like: diagonal (itself), offset down,right (a neighbour), "
     "vertical (all attend to one token), block (its row, column or quadrant), or mixed",
     true},
    {"score", "how clearly the pattern is followed, up to 1; below 0.4 the head is mixed"},
    {"KL without",
     "change of the answer without the head: KL divergence of the probabilities, in nats"},
    {"top-1 changed", "share of the images whose first class changes without the head"},
    {"estimate", "first-order effect of the head on the first class, from the gradient"},
    {"notes", "dead: no output depends on it; like 3:1: attends as head 1 of layer 3 does", true},
}};

std::string cell(double value, const std::string& shown, bool known = true) {
  if (!known) return "<td>–</td>";
  return "<td data-value=\"" + formatted("%.9g", value) + "\">" + shown + "</td>";
}

std::string cell(const char* format, double value, bool known = true) {
  return cell(value, formatted(format, value), known);
}

std::string share_cell(double share, bool known = true) {
  return cell(share, format_percent(share, 1), known);
}

std::string row_html(const HeadReport& report, const interpret::HeadSummary& head) {
  const bool measured = report.disabled_images != 0;
  const double order = static_cast<double>(head.id.layer * report.heads + head.id.head);
  std::string html = std::string("<tr") + (head.dead ? " class=\"dead\"" : "") + ">";
  html += "<td data-value=\"" + formatted("%g", order) + "\">" + head_name(head.id) + "</td>";
  html += cell("%.1f", head.distance) + cell("%.2f", head.entropy) + share_cell(head.prefix_mass);
  html += "<td class=\"left\">" + html_escaped(interpret::describe(head.pattern, report.layout)) +
          "</td>" + cell("%.2f", head.pattern.score);
  html += cell("%.4f", head.divergence, measured) + share_cell(head.flips, measured) +
          cell("%.4f", head.estimate, report.estimated != 0);
  return html + "<td class=\"left\">" + notes_on(report, head) + "</td></tr>\n";
}

std::string plot_html(const char* title, const char* meaning, const std::string& svg) {
  return std::string("<section><h2>") + title + "</h2><p>" + meaning + "</p>" + svg +
         "</section>\n";
}

std::string legend_html() {
  std::string html = "<div class=\"legend\">";
  for (const auto& [kind, name] : enum_names(interpret::PatternKind{}))
    html += "<span><i style=\"background:var(--p-" + std::string(name) + ")\"></i>" +
            std::string(name) + "</span>";
  return html + "</div>";
}

std::string plots_html(const HeadReport& report) {
  const bool nothing = report.disabled_images == 0 && report.estimated == 0;
  return "<div class=\"plots\">\n" +
         plot_html("How far they look", "Mean attention distance in pixels, a dot per head.",
                   distance_svg(report)) +
         plot_html("What they do",
                   "Patterns, heads down and layers across; the stronger the colour, the clearer.",
                   patterns_svg(report) + legend_html()) +
         (nothing ? ""
                  : plot_html(
                        "How important they are",
                        report.disabled_images != 0
                            ? "Change of the answer without the head; the stronger the colour, the "
                              "more."
                            : "Estimated effect on the answer; the stronger the colour, the more.",
                        importance_svg(report))) +
         "</div>\n";
}

std::string matrices_html(const HeadReport& report, const std::vector<std::string>& matrices) {
  std::string html =
      "<section><h2>Mean attention of each head</h2><p>Queries down, keys across, tokens in the "
      "order of the model: class and register tokens first, then the patches row by row. Colours "
      "by "
      "the square root, each matrix with its own scale. Click to enlarge.</p>\n<div "
      "class=\"scroll\"><div class=\"matrices\" style=\"--columns:" +
      std::to_string(report.heads <= 8 ? report.layers : report.heads) + "\">\n";
  // With few heads, layers go across as in the plots.
  const auto add = [&](size_t layer, size_t head) {
    const size_t at = layer * report.heads + head;
    const std::string pattern =
        html_escaped(interpret::describe(report.summaries[at].pattern, report.layout));
    const std::string name = head_name(report.summaries[at].id);
    html += "<button><img loading=\"lazy\" alt=\"Mean attention of head " + name + ", " + pattern +
            "\" src=\"data:image/png;base64," + base64(matrices[at]) + "\">" + name + " " +
            pattern + "</button>\n";
  };
  if (report.heads <= 8)
    for (size_t head = 0; head < report.heads; ++head)
      for (size_t layer = 0; layer < report.layers; ++layer) add(layer, head);
  else
    for (size_t layer = 0; layer < report.layers; ++layer)
      for (size_t head = 0; head < report.heads; ++head) add(layer, head);
  return html +
         "</div></div></section>\n<dialog aria-label=\"Enlarged matrix\"><img "
         "alt=\"\"><p></p></dialog>\n";
}

std::string table_html(const HeadReport& report) {
  std::string html = "<section><h2>All numbers</h2><div class=\"scroll\"><table>\n<thead><tr>",
              meanings = "<dl>";
  for (const Column& column : kColumns) {
    html += std::string("<th scope=\"col\"") + (column.left ? " class=\"left\"" : "") +
            " title=\"" + html_escaped(column.meaning) + "\">" + column.name + "</th>";
    meanings +=
        std::string("<dt>") + column.name + "</dt><dd>" + html_escaped(column.meaning) + "</dd>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& head : report.summaries) html += row_html(report, head);
  return html + "</tbody>\n</table></div>\n" + meanings + "</dl></section>\n";
}

std::string counted(size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string heads_page(const NamedReport& named, const std::vector<std::string>& matrices) {
  const HeadReport& report = named.report;
  const std::string model = html_escaped(printable(named.model));
  const std::string importance = report.disabled_images == 0
                                     ? std::string("; importance was not measured")
                                     : "; importance measured on " +
                                           std::to_string(report.disabled_images) +
                                           " of them by disabling each head";
  return html_page({.title = model + ": heads",
                    .style = kStyle,
                    .body = "<h1>" + model + "</h1>\n<p>" + counted(report.layers, "layer") +
                            " of " + counted(report.heads, "head") + " over " +
                            counted(report.images, "image") + importance + "</p>\n" +
                            plots_html(report) + matrices_html(report, matrices) +
                            table_html(report),
                    .script = kScript});
}

}  // namespace vit::tools
