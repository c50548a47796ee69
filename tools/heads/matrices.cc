#include <algorithm>
#include <cmath>

#include "tools/draw/heatmap.h"
#include "tools/draw/mass.h"
#include "tools/heads/output.h"

namespace vit::tools {
namespace {

/// Means of blocks of `side` x `side` weights, as roots: attention spans orders of magnitude.
std::vector<float> block_roots(ConstMatrixView head, size_t side) {
  const size_t cells = (head.rows + side - 1) / side;
  std::vector<float> roots(cells * cells);
  for (size_t row = 0; row < cells; ++row)
    for (size_t col = 0; col < cells; ++col) {
      const size_t bottom = std::min((row + 1) * side, head.rows),
                   right = std::min((col + 1) * side, head.cols);
      double sum = 0.0;
      for (size_t r = row * side; r < bottom; ++r)
        for (size_t c = col * side; c < right; ++c) sum += static_cast<double>(head(r, c));
      const auto count = static_cast<double>((bottom - row * side) * (right - col * side));
      roots[row * cells + col] = static_cast<float>(std::sqrt(std::max(0.0, sum / count)));
    }
  return roots;
}

}  // namespace

std::vector<std::string> matrix_pictures(const HeadReport& report, const Matrix& attention) {
  const size_t heads = report.layers * report.heads, tokens = attention.cols();
  constexpr size_t kFewHeads = 48;  // the page of a large model must stay small
  const size_t most = heads <= kFewHeads ? 100 : 66;
  const size_t side = (tokens + most - 1) / most, cells = (tokens + side - 1) / side;
  std::vector<std::string> pictures;
  for (size_t head = 0; head < heads; ++head) {
    const auto roots = block_roots(attention.view().row_range(head * tokens, tokens), side);
    constexpr double kClip = 99.5;
    const ColourScale scale{.colormap = Colormap::kInferno,
                            .high = std::max(percentile(roots, kClip), 1e-12)};
    pictures.push_back(encode_picture(heat_cells(roots, cells, 1, scale), ".png"));
  }
  return pictures;
}

}  // namespace vit::tools
