#include <algorithm>
#include <cmath>
#include <span>

#include "tools/analysis/picture.h"
#include "tools/output/format.h"

namespace vit::tools {
namespace {

constexpr size_t kMargin = 20;
constexpr size_t kAxis = 34;  // room for the names of the axes

/// Pixels of a cell: one matrix fills a screen, many share it.
size_t cell_edge(size_t tokens, size_t cols) {
  const size_t edge = cols == 1 ? 760 : std::clamp<size_t>(1560 / cols, 120, 400);
  return std::max<size_t>(1, edge / tokens);
}

/// Attention spans orders of magnitude: the square root keeps the faint part visible.
std::vector<float> root_of(const Matrix& weights) {
  std::vector<float> roots(weights.size());
  std::transform(weights.data(), weights.data() + weights.size(), roots.begin(),
                 [](float w) { return std::sqrt(std::max(w, 0.0f)); });
  return roots;
}

Image draw_matrix(const TokenMatrix& matrix, std::span<const float> roots, size_t prefix,
                  size_t edge, const LookSettings& look) {
  Image drawn = heat_cells(roots, matrix.weights.cols(), edge, scale_for(roots, look));
  // A fine line between prefix tokens and patches if the cells are large enough.
  if (prefix > 0 && edge > 1) {
    fill(drawn, {prefix * edge - 1, 0, 1, drawn.height}, kFaintInk);
    fill(drawn, {0, prefix * edge - 1, drawn.width, 1}, kFaintInk);
  }
  return drawn;
}

/// The tokens that get a tick: the first of the prefix, and round numbers of patches.
std::vector<std::pair<size_t, std::string>> token_ticks(const interpret::TokenLayout& layout) {
  std::vector<std::pair<size_t, std::string>> ticks;
  const size_t first = layout.first_patch(), patches = layout.grid.count();
  if (first != 0) ticks.emplace_back(0, interpret::token_name(layout, 0));
  for (const double number : round_numbers(0.0, static_cast<double>(patches - 1)))
    if (number >= 1.0 && number == std::floor(number))
      ticks.emplace_back(first + static_cast<size_t>(number), formatted("%.0f", number));
  return ticks;
}

/// Names of the axes, and ticks where there is room for them.
void draw_axes(Picture& picture, const Box& box, const interpret::TokenLayout& layout, bool ticks) {
  TextLook look{.height = 10.0, .colour = kFaintInk}, centred = look, right = look;
  centred.align = Align::kCentre;
  right.align = Align::kRight;
  const double away = ticks ? 26.0 : 8.0, left = static_cast<double>(box.x),
               top = static_cast<double>(box.y);
  draw_text(picture, ticks ? "Key: token, patches from 0" : "Key",
            left + static_cast<double>(box.width) / 2, top - away, centred);
  draw_upwards(picture, ticks ? "Query: token, patches from 0" : "Query",
               left - (ticks ? 42.0 : 8.0), top + static_cast<double>(box.height) / 2, look);
  if (!ticks) return;
  const double cell = static_cast<double>(box.width) /
                      static_cast<double>(layout.first_patch() + layout.grid.count());
  for (const auto& [token, name] : token_ticks(layout)) {
    const double at = (static_cast<double>(token) + 0.5) * cell;
    draw_text(picture, name, left + at, top - 9.0, centred);
    draw_text(picture, name, left - 9.0, top + at + 5.0, right);
    fill(picture, {box.x + static_cast<size_t>(at), box.y - 5, 1, 5}, kFaintInk);
    fill(picture, {box.x - 5, box.y + static_cast<size_t>(at), 5, 1}, kFaintInk);
  }
}

/// One matrix alone, with ticks and a colour bar.
Picture draw_one(const Heading& heading, const TokenMatrix& matrix,
                 const interpret::TokenLayout& layout, size_t cell, const LookSettings& look) {
  constexpr size_t kTicks = 56, kGap = 14;
  const size_t edge = cell * matrix.weights.rows();
  const Box box{kMargin + kTicks, kHeadingHeight + kAxis + 6, edge, edge};
  Picture picture{
      blank(std::max(box.x + edge + kGap + kBarWidth + kMargin, heading_width(heading, kMargin)),
            box.y + edge + kMargin)};
  draw_heading(picture, heading, kMargin);
  draw_axes(picture, box, layout, true);
  const std::vector<float> roots = root_of(matrix.weights);
  paste(draw_matrix(matrix, roots, layout.first_patch(), cell, look), box.x, box.y, picture);
  const ColourScale scale = scale_for(roots, look);
  const double largest = *std::ranges::max_element(roots);
  colour_bar(picture, {box.x + edge + kGap, box.y, kBarWidth, edge}, scale,
             {.title = "attention",
              .format = "%.2g",
              .factor = 10.0,  // roots of per cent
              .unit = " %",
              .rooted = true,
              .clipped = largest > scale.high * (1.0 + 1e-6)});
  return picture;
}

}  // namespace

Picture draw_matrices(const std::string& model, const ImageAnalysis& analysis,
                      const std::vector<std::vector<TokenMatrix>>& sheet,
                      const LookSettings& look) {
  const size_t cols = sheet.front().size(), rows = sheet.size();
  const interpret::TokenLayout& layout = analysis.maps.layout;
  const size_t cell = cell_edge(analysis.maps.tokens(), cols);
  const size_t edge = cell * analysis.maps.tokens();
  const bool one = rows == 1 && cols == 1;
  const TokenMatrix& first = sheet.front().front();
  const std::string what = one ? first.layer + ", " + first.head : "attention matrices";
  const Heading heading{answer_text(model, analysis),
                        model + ", " + what + ", colours by the square root of the attention"};
  if (one) return draw_one(heading, first, layout, cell, look);
  constexpr size_t kName = 18;  // a line above each matrix
  const size_t pitch_x = edge + kAxis + 8, pitch_y = edge + kAxis + kName;

  Picture picture{blank(std::max(2 * kMargin + cols * pitch_x, heading_width(heading, kMargin)),
                        kHeadingHeight + rows * pitch_y + kMargin)};
  draw_heading(picture, heading, kMargin);
  const TextLook label{.height = 10.0, .colour = kFaintInk};
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < sheet[r].size(); ++c) {
      const TokenMatrix& matrix = sheet[r][c];
      const Box box{kMargin + c * pitch_x + kAxis / 2,
                    kHeadingHeight + r * pitch_y + kAxis / 2 + kName, edge, edge};
      draw_within(picture, matrix.layer + ", " + matrix.head, edge, static_cast<double>(box.x),
                  static_cast<double>(box.y) - 22.0, label);
      draw_axes(picture, box, layout, false);
      paste(draw_matrix(matrix, root_of(matrix.weights), layout.first_patch(), cell, look), box.x,
            box.y, picture);
    }
  return picture;
}

}  // namespace vit::tools
