#include <algorithm>
#include <cmath>

#include "tools/output/format.h"
#include "tools/output/predictions.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

constexpr size_t kShareWidth = 8;  // "100.00 %"
constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kCyan = "\x1b[36m";

std::string coloured(std::string_view colour, std::string text, const TextStyle& style) {
  if (!style.colour || text.empty()) return text;
  return std::string(colour) + text + "\x1b[0m";
}

size_t widest_label(const std::vector<Prediction>& predictions) {
  size_t widest = 0;
  for (const auto& p : predictions) widest = std::max(widest, display_width(printable(p.label)));
  return widest;
}

}  // namespace

TextStyle output_style() {
  return {.columns = terminal_columns(),
          .whole_labels = !output_is_terminal(),
          .colour = output_has_colour()};
}

std::string bar(float fraction, size_t width) {
  constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const float clamped = fraction > 0.0f ? std::min(fraction, 1.0f) : 0.0f;
  const auto eighths = static_cast<size_t>(std::lround(clamped * 8.0f * static_cast<float>(width)));
  std::string text;
  for (size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text.append(kEighths[eighths % 8]);
}

std::string to_text(const ImageResult& result, const TextStyle& style) {
  const size_t bar_width = style.columns >= 60 ? 20 : 10;
  const size_t rank_width = std::to_string(result.predictions.size()).size();
  const size_t around_label =
      2 + rank_width + 2 + 2 + kShareWidth + (style.logits ? 12 : 0) + 2 + bar_width;
  const size_t room = std::max<size_t>(style.columns, around_label + 8) - around_label;
  const size_t widest = widest_label(result.predictions);
  const size_t label_width = style.whole_labels ? widest : std::min(widest, room);

  std::string text = coloured(kBold, printable(result.file), style);
  if (style.multi_label) text += coloured(kDim, "  scores, each class on its own", style);
  text += '\n';
  for (size_t i = 0; i < result.predictions.size(); ++i) {
    const auto& p = result.predictions[i];
    const auto rank = std::to_string(i + 1);
    text += "  " + coloured(kDim, std::string(rank_width - rank.size(), ' ') + rank, style);
    text += "  " + fit(printable(p.label), label_width);
    text += "  " + padded(format_percent(p.probability), kShareWidth);
    if (style.logits)
      text += "  " + formatted("%10.4f", static_cast<double>(result.logits.at(p.index)));
    const std::string drawn = bar(p.probability, bar_width);
    if (!drawn.empty()) text += "  " + coloured(kCyan, drawn, style);
    text += '\n';
  }
  if (style.classes > 0 && !result.predictions.empty() &&
      result.predictions[0].probability < kUnsure)
    text += coloured(kDim,
                     "  not sure: the image may show none of the " + std::to_string(style.classes) +
                         " known classes",
                     style) +
            "\n";
  return text;
}

}  // namespace vit::tools
