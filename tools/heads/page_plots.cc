#include <algorithm>
#include <cmath>

#include "tools/draw/heatmap.h"
#include "tools/heads/output.h"
#include "tools/output/format.h"
#include "tools/output/html.h"

namespace vit::tools {
namespace {

constexpr double kWidth = 460, kLeft = 40, kTop = 8, kBottom = 36, kHeight = 240;

std::string number(double value) {
  return formatted("%.1f", value);
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
         text + "</text>";
}

std::string opening(double height, const char* what) {
  return "<svg viewBox=\"0 0 " + number(kWidth) + " " + number(height) +
         "\" role=\"img\" aria-label=\"" + what + "\">";
}

double column_of(const HeadReport& report) {
  return (kWidth - kLeft) / static_cast<double>(report.layers);
}

std::string layer_numbers(const HeadReport& report, double bottom) {
  std::string svg;
  const size_t every = report.layers <= 16 ? 1 : report.layers <= 32 ? 2 : 4;
  for (size_t layer = 0; layer < report.layers; layer += every)
    svg += text_at(kLeft + (static_cast<double>(layer) + 0.5) * column_of(report), bottom + 16,
                   "middle", std::to_string(layer));
  return svg + text_at((kLeft + kWidth) / 2, bottom + 33, "middle", "layer") + "</svg>";
}

/// A tooltip with the name of the head.
std::string title(const interpret::HeadSummary& head, const std::string& text) {
  return "<title>" + head_name(head.id) + ": " + html_escaped(text) + "</title>";
}

/// Cells, heads down and layers across, each with its style and its words.
template <typename Style, typename Words>
std::string cells_svg(const HeadReport& report, const char* what, const Style& style,
                      const Words& words) {
  const double column = column_of(report);
  const double size = std::clamp((kHeight - kTop) / static_cast<double>(report.heads), 6.0, 40.0);
  const double bottom = kTop + size * static_cast<double>(report.heads);
  std::string svg = opening(bottom + kBottom + 2, what);
  for (const auto& head : report.summaries) {
    const double x = kLeft + static_cast<double>(head.id.layer) * column,
                 y = kTop + static_cast<double>(head.id.head) * size;
    svg += "<rect rx=\"3\" x=\"" + number(x + 1) + "\" y=\"" + number(y + 1) + "\" width=\"" +
           number(column - 2) + "\" height=\"" + number(size - 2) + "\" style=\"" + style(head) +
           "\">" + title(head, words(head)) + "</rect>";
    const bool named = size >= 12.0 || head.id.head % 2 == 0;
    if (head.id.layer == 0 && named)
      svg += text_at(kLeft - 6, y + 0.5 * size + 4, "end", std::to_string(head.id.head));
  }
  return svg + layer_numbers(report, bottom);
}

double importance(const HeadReport& report, const interpret::HeadSummary& head) {
  return report.disabled_images != 0 ? head.divergence : head.estimate;
}

}  // namespace

std::string distance_svg(const HeadReport& report) {
  double most = 1.0;
  for (const auto& head : report.summaries) most = std::max(most, head.distance);
  std::string svg =
      opening(kTop + kHeight + kBottom + 2, "Attention distance of each head by layer");
  const double scale = kHeight / (1.05 * most);
  for (const double distance : round_numbers(0.0, most)) {
    const double y = kTop + kHeight - distance * scale;
    svg += "<line class=\"rule\" x1=\"" + number(kLeft) + "\" x2=\"" + number(kWidth) + "\" y1=\"" +
           number(y) + "\" y2=\"" + number(y) + "\"/>" +
           text_at(kLeft - 6, y + 4, "end", formatted("%g", distance));
  }
  for (const auto& head : report.summaries)
    svg += "<circle class=\"dot\" r=\"5\" cx=\"" +
           number(kLeft + (static_cast<double>(head.id.layer) + 0.5) * column_of(report)) +
           "\" cy=\"" + number(kTop + kHeight - head.distance * scale) + "\">" +
           title(head, formatted("%.0f px", head.distance)) + "</circle>";
  return svg + layer_numbers(report, kTop + kHeight);
}

std::string importance_svg(const HeadReport& report) {
  double most = 1e-12;
  for (const auto& head : report.summaries) most = std::max(most, importance(report, head));
  return cells_svg(
      report, "Importance of each head, heads down, layers across",
      [&](const interpret::HeadSummary& head) {
        return "fill:var(--accent);fill-opacity:" +
               formatted("%.3f", 0.06 + 0.94 * std::sqrt(importance(report, head) / most));
      },
      [&](const interpret::HeadSummary& head) {
        return formatted("%.4f", importance(report, head)) +
               (report.disabled_images != 0 ? " nats" : ", an estimate");
      });
}

std::string patterns_svg(const HeadReport& report) {
  return cells_svg(
      report, "Pattern of each head, heads down, layers across",
      [](const interpret::HeadSummary& head) {
        const bool mixed = head.pattern.kind == interpret::PatternKind::kMixed;
        return "fill:var(--p-" + std::string(to_string(head.pattern.kind)) + ");fill-opacity:" +
               formatted("%.2f", mixed ? 0.6 : 0.35 + 0.65 * head.pattern.score);
      },
      [&](const interpret::HeadSummary& head) {
        return interpret::describe(head.pattern, report.layout) +
               formatted(", score %.2f", head.pattern.score);
      });
}

}  // namespace vit::tools
