#include <algorithm>
#include <cmath>

#include "tools/draw/heatmap.h"
#include "tools/eval/report.h"
#include "tools/output/format.h"

namespace vit::tools {
namespace {

constexpr Colour kRight{13, 118, 110}, kWrong{200, 66, 24};
constexpr size_t kMargin = 16, kMostCells = 1600, kLongestLabel = 170;

/// The matrix as shares of its rows. Many classes share a cell.
struct Cells {
  size_t side = 0;
  std::vector<double> shares;           ///< side · side
  std::vector<std::uint64_t> images{};  ///< the same, counted
};

Cells cells_of(const Tally& tally, const std::vector<size_t>& classes) {
  Cells cells;
  cells.side = std::min(classes.size(), kMostCells);
  cells.shares.resize(cells.side * cells.side);
  cells.images.resize(cells.side * cells.side);
  const auto place = [&](size_t index) {
    const auto at = std::ranges::lower_bound(classes, index) - classes.begin();
    return static_cast<size_t>(at) * cells.side / classes.size();
  };
  std::vector<std::uint64_t> rows(cells.side);
  for (const Confusion& c : tally.confusions()) {
    cells.images[place(c.truth) * cells.side + place(c.predicted)] += c.images;
    rows[place(c.truth)] += c.images;
  }
  for (size_t i = 0; i < cells.images.size(); ++i)
    if (rows[i / cells.side] != 0)
      cells.shares[i] =
          static_cast<double>(cells.images[i]) / static_cast<double>(rows[i / cells.side]);
  return cells;
}

size_t cell_edge(size_t side) {
  if (side <= 12) return 52;
  if (side <= 20) return 38;
  if (side <= 40) return 22;
  if (side <= 110) return 11;
  return std::max<size_t>(1, 1100 / side);
}

/// Small shares must be visible too: they are the mistakes.
Colour shade(double share, bool right) {
  const double part = share <= 0.0 ? 0.0 : 0.08 + 0.92 * std::pow(share, 0.6);
  const Colour& full = right ? kRight : kWrong;
  Colour colour;
  for (size_t c = 0; c < 3; ++c)
    colour[c] = static_cast<std::uint8_t>(std::lround(kPaper[c] + part * (full[c] - kPaper[c])));
  return colour;
}

struct Layout {
  size_t edge = 0;
  size_t left = 0;
  size_t top = 0;
  size_t labels = 0;  ///< width of the longest, 0: none are drawn
  TextLook look;
};

Layout lay_out(const EvaluationReport& report, const std::vector<size_t>& classes, size_t side) {
  Layout layout;
  layout.edge = cell_edge(side);
  layout.look = {.height = std::min(10.0, 0.62 * static_cast<double>(layout.edge)),
                 .colour = kInk,
                 .bold = false,
                 .align = Align::kRight};
  if (layout.edge >= 11)
    for (const size_t i : classes)
      layout.labels = std::max(layout.labels, text_width(report.names.label(i), layout.look));
  layout.labels = std::min(layout.labels, kLongestLabel);
  constexpr size_t kNumbers = 28;  // ticks instead of labels
  layout.left = kMargin + 18 + (layout.labels != 0 ? layout.labels : kNumbers) + 8;
  layout.top = kMargin + 34;
  return layout;
}

/// With many classes a cell is about one pixel: a dot around it makes it visible.
void draw_dots(const Cells& cells, const Layout& layout, Image& image) {
  constexpr size_t kDot = 4;
  const size_t around = (kDot - std::min(kDot, layout.edge)) / 2;
  for (size_t i = 0; i < cells.shares.size(); ++i) {
    if (cells.images[i] == 0) continue;
    const size_t row = i / cells.side, column = i % cells.side;
    const size_t side = layout.edge + 2 * around;
    // Readers look for the mistakes, so none is drawn faintly.
    fill(image,
         {layout.left + column * layout.edge - around, layout.top + row * layout.edge - around,
          side, side},
         shade(std::max(cells.shares[i], 0.35), row == column));
  }
}

/// Places in the list of classes, counted from 0 as in confusion.csv.
void draw_ticks(size_t classes, size_t matrix, const Layout& layout, Picture& image) {
  const TextLook look{.height = 9.0, .colour = kFaintInk, .bold = false, .align = Align::kRight};
  TextLook centred = look;
  centred.align = Align::kCentre;
  for (const double number : round_numbers(0.0, static_cast<double>(classes - 1))) {
    const double at = (number + 0.5) * static_cast<double>(matrix) / static_cast<double>(classes);
    const std::string text = formatted("%.0f", number);
    draw_text(image, text, static_cast<double>(layout.left) - 6.0,
              static_cast<double>(layout.top) + at + 4.5, look);
    draw_text(image, text, static_cast<double>(layout.left) + at,
              static_cast<double>(layout.top + matrix) + 16.0, centred);
  }
}

void draw_cells(const Cells& cells, const Layout& layout, Picture& image) {
  const size_t edge = layout.edge, gap = edge >= 11 ? 1 : 0;
  const bool numbers = edge >= 38;
  for (size_t i = 0; i < cells.shares.size(); ++i) {
    const size_t row = i / cells.side, column = i % cells.side;
    const Box box{layout.left + column * edge, layout.top + row * edge, edge - gap, edge - gap};
    if (cells.images[i] == 0) {
      if (gap != 0) fill(image, box, Colour{246, 247, 248});
      continue;
    }
    fill(image, box, shade(cells.shares[i], row == column));
    if (!numbers) continue;
    const std::string count = std::to_string(cells.images[i]);
    TextLook look{.height = edge >= 52 ? 9.5 : 8.0,
                  .colour = cells.shares[i] > 0.35 ? kPaper : kInk,
                  .bold = false,
                  .align = Align::kCentre};
    while (text_width(count, look) + 4 > edge && look.height > 4.0) look.height -= 0.5;
    draw_text(image, count, static_cast<double>(box.x) + 0.5 * static_cast<double>(edge - gap),
              static_cast<double>(box.y) + 0.5 * (static_cast<double>(edge - gap) + look.height),
              look);
  }
}

void draw_labels(const EvaluationReport& report, const std::vector<size_t>& classes,
                 const Layout& layout, Picture& image) {
  const size_t below = layout.top + classes.size() * layout.edge + 8;
  for (size_t i = 0; i < classes.size(); ++i) {
    const std::string label = fitting(report.names.label(classes[i]), layout.labels, layout.look);
    const double middle = (static_cast<double>(i) + 0.5) * static_cast<double>(layout.edge);
    draw_text(image, label, static_cast<double>(layout.left - 8),
              static_cast<double>(layout.top) + middle + 0.5 * layout.look.height, layout.look);
    TextLook upwards = layout.look;
    upwards.align = Align::kCentre;
    draw_upwards(image, label, static_cast<double>(layout.left) + middle + 0.5 * layout.look.height,
                 static_cast<double>(below) + 0.5 * static_cast<double>(text_width(label, upwards)),
                 upwards);
  }
}

}  // namespace

Picture confusion_picture(const EvaluationReport& report) {
  const Tally& tally = report.evaluation.tally;
  const auto classes = tally.occurring();
  const Cells cells = cells_of(tally, classes);
  const Layout layout = lay_out(report, classes, cells.side);
  const size_t matrix = cells.side * layout.edge;
  const size_t width = std::max<size_t>(layout.left + matrix + kMargin, 420);
  Picture image{blank(width, layout.top + matrix + layout.labels + kMargin + 34)};
  const std::string title =
      format_count(tally.images()) + " images, " + format_percent(tally.top1()) + " right";
  draw_text(image, title, static_cast<double>(layout.left), kMargin + 14.0,
            {.height = 11.0, .colour = kInk, .bold = true});
  if (layout.edge < 4)
    draw_dots(cells, layout, image);
  else
    draw_cells(cells, layout, image);
  frame(image, {layout.left - 1, layout.top - 1, matrix + 2, matrix + 2}, 1, kRule);
  if (layout.labels != 0)
    draw_labels(report, classes, layout, image);
  else
    draw_ticks(classes.size(), matrix, layout, image);
  const TextLook axis{.height = 9.5, .colour = kFaintInk, .bold = false, .align = Align::kCentre};
  const double centre = 0.5 * static_cast<double>(matrix);
  draw_upwards(image, "true class", kMargin + 10.0, static_cast<double>(layout.top) + centre, axis);
  draw_text(image, "predicted class", static_cast<double>(layout.left) + centre,
            static_cast<double>(image.height - kMargin), axis);
  return image;
}

}  // namespace vit::tools
