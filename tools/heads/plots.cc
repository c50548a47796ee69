#include <algorithm>
#include <cmath>

#include "tools/draw/heading.h"
#include "tools/draw/heatmap.h"
#include "tools/heads/output.h"
#include "tools/output/format.h"

namespace vit::tools {
namespace {

constexpr size_t kMargin = 24;
constexpr size_t kPlotWidth = 560;
constexpr size_t kPlotHeight = 330;
constexpr size_t kLeft = 48;    // for the numbers of the vertical axis
constexpr size_t kBottom = 40;  // and of the horizontal one

constexpr TextLook kLabel{.height = 10.0, .colour = kFaintInk};

TextLook aligned(Align align) {
  TextLook look = kLabel;
  look.align = align;
  return look;
}

/// The smallest round step of which five reach `most`.
double round_step(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(std::max(most, 1e-9) / 5.0)));
  for (const double step : {1.0, 2.0, 2.5, 5.0})
    if (step * power * 5.0 >= most) return step * power;
  return 10.0 * power;
}

void draw_layer_numbers(Picture& image, const Box& box, size_t layers) {
  const double column = static_cast<double>(box.width) / static_cast<double>(layers);
  const size_t every = layers <= 16 ? 1 : layers <= 32 ? 2 : 4;
  const double below = static_cast<double>(box.y + box.height);
  for (size_t layer = 0; layer < layers; layer += every)
    draw_text(image, std::to_string(layer),
              static_cast<double>(box.x) + (static_cast<double>(layer) + 0.5) * column,
              below + 17.0, aligned(Align::kCentre));
  draw_text(image, "layer", static_cast<double>(box.x) + static_cast<double>(box.width) / 2.0,
            below + 36.0, aligned(Align::kCentre));
}

/// One dot per head, as in figure 7 of the ViT paper.
void draw_distances(Picture& image, const Box& box, const HeadReport& report) {
  double most = 1.0;
  for (const auto& head : report.summaries) most = std::max(most, head.distance);
  const double step = round_step(most), ceiling = step * std::ceil(most / step);
  const auto height_of = [&](double distance) {
    return static_cast<double>(box.y) +
           (1.0 - distance / ceiling) * static_cast<double>(box.height);
  };
  for (double d = 0.0; d <= ceiling + 1e-9; d += step) {
    fill(image, {box.x, static_cast<size_t>(std::lround(height_of(d))), box.width, 1}, kRule);
    draw_text(image, formatted("%g", d), static_cast<double>(box.x) - 8.0, height_of(d) + 4.5,
              aligned(Align::kRight));
  }
  const double column = static_cast<double>(box.width) / static_cast<double>(report.layers);
  for (const auto& head : report.summaries)
    disc(image, static_cast<double>(box.x) + (static_cast<double>(head.id.layer) + 0.5) * column,
         height_of(head.distance), 5.0, Colour{15, 118, 110}, 0.6);
  draw_layer_numbers(image, box, report.layers);
}

/// Measured importance where there is one, else the estimate.
double importance(const HeadReport& report, const interpret::HeadSummary& head) {
  return report.disabled_images != 0 ? head.divergence : head.estimate;
}

void draw_importance(Picture& image, const Box& box, const HeadReport& report) {
  double most = 1e-12;
  for (const auto& head : report.summaries) most = std::max(most, importance(report, head));
  const ColourScale scale{.colormap = Colormap::kViridis, .low = 0.0, .high = most};
  const auto edge = [&](size_t from, size_t length, size_t at, size_t count) {
    return from + at * length / count;
  };
  for (const auto& head : report.summaries) {
    const auto [layer, index] = head.id;
    const size_t x = edge(box.x, box.width, layer, report.layers);
    const size_t y = edge(box.y, box.height, index, report.heads);
    fill(image,
         {x, y, edge(box.x, box.width, layer + 1, report.layers) - x - 2,
          edge(box.y, box.height, index + 1, report.heads) - y - 2},
         colour_of(scale.colormap, scale.place(importance(report, head))));
    if (layer != 0) continue;
    const double middle = static_cast<double>(y) +
                          static_cast<double>(box.height) / static_cast<double>(report.heads) / 2.0;
    draw_text(image, std::to_string(index), static_cast<double>(box.x) - 8.0, middle + 3.5,
              aligned(Align::kRight));
  }
  draw_layer_numbers(image, box, report.layers);
  colour_bar(
      image, {box.x + box.width + 12, box.y, kBarWidth, box.height}, scale,
      {.title = report.disabled_images != 0 ? "KL without the head (nats)" : "first-order effect",
       .format = "%.2g"});
}

}  // namespace

Picture heads_plots(const NamedReport& named) {
  const size_t panel = kLeft + kPlotWidth;
  Picture image{blank(3 * kMargin + 2 * panel + kBarWidth + 12,
                      kHeadingHeight + 26 + kPlotHeight + kBottom + kMargin)};
  const HeadReport& report = named.report;
  draw_heading(image,
               {"Attention heads", named.model + ", " + std::to_string(report.images) +
                                       " images, importance measured on " +
                                       std::to_string(report.disabled_images)},
               kMargin);
  const size_t top = kHeadingHeight + 26;
  const Box left{kMargin + kLeft, top, kPlotWidth, kPlotHeight};
  const Box right{2 * kMargin + panel + kLeft, top, kPlotWidth, kPlotHeight};
  draw_text(image, "Mean attention distance (pixels), a dot per head", static_cast<double>(left.x),
            top - 12.0, kLabel);
  draw_distances(image, left, report);
  const bool known = report.disabled_images != 0 || report.estimated != 0;
  draw_text(image,
            known ? "Importance, heads down, layers across"
                  : "Importance was not measured (--importance-images 0)",
            static_cast<double>(right.x), top - 12.0, kLabel);
  if (known) draw_importance(image, right, report);
  return image;
}

}  // namespace vit::tools
