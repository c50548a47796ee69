#include <algorithm>
#include <cmath>

#include "tools/attention/picture.h"

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

Image draw_matrix(const TokenMatrix& matrix, size_t prefix, size_t edge, const LookSettings& look) {
  const std::vector<float> roots = root_of(matrix.weights);
  Image drawn = heat_cells(roots, matrix.weights.cols(), edge, scale_for(roots, look));
  // A fine line between prefix tokens and patches if the cells are large enough.
  if (prefix > 0 && edge > 1) {
    fill(drawn, {prefix * edge - 1, 0, 1, drawn.height}, kFaintInk);
    fill(drawn, {0, prefix * edge - 1, drawn.width, 1}, kFaintInk);
  }
  return drawn;
}

/// Names of the axes, and ticks at the rows of patches.
void draw_axes(Image& picture, const Box& box, const TextLook& look) {
  TextLook centred = look;
  centred.align = Align::kCentre;
  draw_text(picture, "Key", static_cast<double>(box.x) + static_cast<double>(box.width) / 2,
            static_cast<double>(box.y) - 8.0, centred);
  draw_upwards(picture, "Query", static_cast<double>(box.x) - 8.0,
               static_cast<double>(box.y) + static_cast<double>(box.height) / 2, look);
}

}  // namespace

Image draw_matrices(const std::string& model, const ImageAnalysis& analysis,
                    const std::vector<std::vector<TokenMatrix>>& sheet, const LookSettings& look) {
  const size_t cols = sheet.front().size(), rows = sheet.size();
  const size_t cell = cell_edge(analysis.maps.tokens(), cols);
  const size_t edge = cell * analysis.maps.tokens();
  const bool one = rows == 1 && cols == 1;
  const size_t name = one ? 0 : 18;  // a line above each matrix of many
  const size_t pitch_x = edge + kAxis + 8, pitch_y = edge + kAxis + name;

  Image picture = blank(std::max<size_t>(2 * kMargin + cols * pitch_x, 520),
                        kHeadingHeight + rows * pitch_y + kMargin);
  const TokenMatrix& first = sheet.front().front();
  const std::string what = one ? first.layer + ", " + first.head : "attention matrices";
  draw_heading(picture,
               {answer_text(model, analysis),
                model + ", " + what + ", colours by the square root of the attention"},
               kMargin);
  const TextLook label{.height = 10.0, .colour = kFaintInk};
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < sheet[r].size(); ++c) {
      const Box box{kMargin + c * pitch_x + kAxis / 2,
                    kHeadingHeight + r * pitch_y + kAxis / 2 + name, edge, edge};
      if (!one)
        draw_text(picture, sheet[r][c].layer + ", " + sheet[r][c].head, static_cast<double>(box.x),
                  static_cast<double>(box.y) - 22.0, label);
      draw_axes(picture, box, label);
      paste(draw_matrix(sheet[r][c], analysis.maps.layout.first_patch(), cell, look), box.x, box.y,
            picture);
    }
  return picture;
}

}  // namespace vit::tools
