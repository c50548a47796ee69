#include "tools/attention/picture.h"

#include <algorithm>
#include <filesystem>

#include "tools/draw/mass.h"
#include "tools/output/format.h"

namespace vit::tools {
namespace {

constexpr size_t kMargin = 20;
constexpr size_t kGap = 14;

constexpr Colour kContour{120, 255, 160};
constexpr Colour kQueryFrame{90, 225, 255};

std::span<const float> patches_of(const ImageAnalysis& analysis, const TokenMap& map) {
  return interpret::patches_of(analysis.maps.layout, map.tokens);
}

void mark_query(Image& image, const interpret::Query& query, GridSize grid) {
  if (query.kind != interpret::QueryKind::kPatch) return;
  const Box box = patch_box(image, grid, query.row, query.col);
  const size_t thickness = std::max<size_t>(2, image.width / 220);
  frame(image, box, thickness + 1, kInk);
  frame(image, box, thickness, kQueryFrame);
}

/// One map over an image of any size.
Image draw_overlay(const Image& view, const ImageAnalysis& analysis, const TokenMap& map,
                   const ColourScale& scale, const LookSettings& look) {
  const GridSize grid = analysis.maps.layout.grid;
  const auto patches = patches_of(analysis, map);
  Image drawn = overlay(view, patches, grid,
                        {.scale = scale, .alpha = look.alpha, .upsampling = look.upsampling});
  if (look.threshold) contour(drawn, mass_set(patches, *look.threshold), grid, kContour);
  return drawn;
}

std::string prefix_text(const ImageAnalysis& analysis, const TokenMap& map) {
  const auto& layout = analysis.maps.layout;
  if (layout.prefix.empty()) return {};
  const double mass = interpret::prefix_mass(layout, map.tokens);
  const std::string name = layout.prefix.size() == 1 ? "cls" : "prefix tokens";
  return ", " + name + " keeps " + formatted("%.0f%%", 100.0 * mass);
}

bool is_clipped(std::span<const float> patches, const ColourScale& scale) {
  return *std::ranges::max_element(patches) > scale.high * (1.0 + 1e-6);
}

Image draw_one(const std::string& model, const ImageAnalysis& analysis, const MapSheet& sheet,
               const LookSettings& look) {
  const TokenMap& map = sheet.rows.front().front();
  const Image& view = analysis.view;
  const auto patches = patches_of(analysis, map);
  const ColourScale scale = scale_for(patches, map, look);
  const bool relevance = map.layer.starts_with("relevance");

  Image picture = blank(2 * kMargin + 2 * view.width + 2 * kGap + kBarWidth,
                        kHeadingHeight + kMargin + view.height);
  Heading heading{answer_text(model, analysis), model + ", " + map.layer + ", " + map.head};
  heading.detail += ", query " + describe(sheet.query);
  if (!relevance) heading.detail += prefix_text(analysis, map);
  draw_heading(picture, heading, kMargin);

  Image plain = view;
  mark_query(plain, sheet.query, analysis.maps.layout.grid);
  paste(plain, kMargin, kHeadingHeight, picture);
  Image drawn = draw_overlay(view, analysis, map, scale, look);
  mark_query(drawn, sheet.query, analysis.maps.layout.grid);
  const size_t right = kMargin + view.width + kGap;
  paste(drawn, right, kHeadingHeight, picture);
  BarLabels labels{.title = "attention per patch",
                   .format = "%.2g",
                   .factor = 100.0,
                   .unit = "%",
                   .clipped = is_clipped(patches, scale)};
  if (relevance) labels = {.title = "relevance per patch", .clipped = labels.clipped};
  colour_bar(picture, {right + view.width + kGap, kHeadingHeight, kBarWidth, view.height}, scale,
             labels);
  return picture;
}

/// Small enough for a sheet of many tiles, large enough to recognise the image.
size_t tile_edge(size_t cols) {
  return std::clamp<size_t>(1640 / std::max<size_t>(cols, 1), 112, 240);
}

/// The arrangement of a sheet: the longer of layers and heads goes across.
struct SheetPlan {
  size_t layers = 0;
  size_t heads = 0;
  size_t width = 0;  // of a tile
  size_t height = 0;

  static constexpr size_t kLeft = 80, kTop = kHeadingHeight + 24, kSpace = 6;

  bool layers_across() const { return layers > heads; }
  size_t cols() const { return layers_across() ? layers : heads; }
  size_t rows() const { return layers_across() ? heads : layers; }
  Box tile(size_t layer, size_t head) const {
    const size_t col = layers_across() ? layer : head, row = layers_across() ? head : layer;
    return {kLeft + col * (width + kSpace), kTop + row * (height + kSpace), width, height};
  }
};

/// The row with the most heads: an attention pool may have fewer than the layers.
const std::vector<TokenMap>& longest_row(const MapSheet& sheet) {
  return *std::ranges::max_element(sheet.rows, {}, &std::vector<TokenMap>::size);
}

SheetPlan plan_sheet(const MapSheet& sheet, const Image& view) {
  SheetPlan plan{.layers = sheet.rows.size(), .heads = longest_row(sheet).size()};
  plan.width = tile_edge(plan.cols());
  plan.height = std::max<size_t>(plan.width * view.height / view.width, 1);
  return plan;
}

/// Names of layers and heads, above the tiles and to their left.
void label_sheet(Image& picture, const MapSheet& sheet, const SheetPlan& plan) {
  const TextLook left{.height = 10.0, .colour = kFaintInk};
  TextLook top = left;
  top.align = Align::kCentre;
  const auto above = [&](const std::string& name, const Box& tile) {
    draw_text(picture, fitting(name, plan.width + SheetPlan::kSpace, top),
              static_cast<double>(tile.x) + static_cast<double>(tile.width) / 2.0,
              SheetPlan::kTop - 8.0, top);
  };
  const auto beside = [&](const std::string& name, const Box& tile) {
    draw_text(picture, fitting(name, SheetPlan::kLeft - kMargin, left), kMargin,
              static_cast<double>(tile.y) + static_cast<double>(tile.height) / 2.0 + 4.5, left);
  };
  for (size_t layer = 0; layer < plan.layers; ++layer) {
    const std::string& name = sheet.rows[layer].front().layer;
    plan.layers_across() ? above(name, plan.tile(layer, 0)) : beside(name, plan.tile(layer, 0));
  }
  for (size_t head = 0; head < plan.heads; ++head) {
    const std::string& name = longest_row(sheet)[head].head;
    plan.layers_across() ? beside(plan.heads == 1 ? "" : name, plan.tile(0, head))
                         : above(name, plan.tile(0, head));
  }
}

Image draw_sheet(const std::string& model, const ImageAnalysis& analysis, const MapSheet& sheet,
                 const LookSettings& look) {
  const SheetPlan plan = plan_sheet(sheet, analysis.view);
  const Image small = scaled(analysis.view, plan.width, plan.height);
  const Box last = plan.tile(plan.layers - 1, plan.heads - 1);
  Image picture =
      blank(std::max<size_t>(last.x + last.width + kMargin, 560), last.y + last.height + kMargin);
  std::string detail = model + ", query " + describe(sheet.query);
  if (plan.heads == 1) detail += ", " + sheet.rows.front().front().head;
  draw_heading(picture, {answer_text(model, analysis), detail + ", each map with its own colours"},
               kMargin);
  label_sheet(picture, sheet, plan);
  for (size_t layer = 0; layer < plan.layers; ++layer)
    for (size_t head = 0; head < sheet.rows[layer].size(); ++head) {
      const TokenMap& map = sheet.rows[layer][head];
      const ColourScale scale = scale_for(patches_of(analysis, map), map, look);
      Image drawn = draw_overlay(small, analysis, map, scale, look);
      mark_query(drawn, sheet.query, analysis.maps.layout.grid);
      const Box tile = plan.tile(layer, head);
      paste(drawn, tile.x, tile.y, picture);
    }
  return picture;
}

}  // namespace

ColourScale scale_for(std::span<const float> patches, const LookSettings& look) {
  const double high = percentile(patches, look.clip_percentile);
  return {.colormap = look.colormap, .low = 0.0, .high = std::max(high, 1e-12)};
}

ColourScale scale_for(std::span<const float> patches, const TokenMap& map,
                      const LookSettings& look) {
  ColourScale scale = scale_for(patches, look);
  if (map.layer.starts_with("rollout")) scale.low = *std::ranges::min_element(patches);
  return scale;
}

Image draw_maps(const std::string& model, const ImageAnalysis& analysis, const MapSheet& sheet,
                const LookSettings& look) {
  const bool one = sheet.rows.size() == 1 && sheet.rows.front().size() == 1;
  return one ? draw_one(model, analysis, sheet, look) : draw_sheet(model, analysis, sheet, look);
}

}  // namespace vit::tools
