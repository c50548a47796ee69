#include "tools/analysis/picture.h"

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
  const std::string text = layout.prefix.size() == 1 ? ", cls keeps " : ", prefix tokens keep ";
  return text + format_percent(mass, 0);
}

bool is_clipped(std::span<const float> patches, const ColourScale& scale) {
  return *std::ranges::max_element(patches) > scale.high * (1.0 + 1e-6);
}

std::string said(const Prediction& prediction) {
  return prediction.label + "  " + format_percent(prediction.probability, 1);
}

/// The title of a map of a class is that class, not the model's answer.
Heading heading_of(const std::string& model, const ImageAnalysis& analysis, const TokenMap& map) {
  Heading heading{answer_text(model, analysis), model};
  if (!map.target) return {heading.title, model + ", " + map.layer + ", " + map.head};
  heading.detail += ", relevance, " + map.head;
  if (!analysis.predictions.empty() && map.target->index != analysis.predictions.front().index)
    heading.detail += ", the answer is " + heading.title;
  heading.title = said(*map.target);
  return heading;
}

Picture draw_one(const std::string& model, const ImageAnalysis& analysis, const MapSheet& sheet,
                 const LookSettings& look) {
  const TokenMap& map = sheet.rows.front().front();
  const Image& view = analysis.view;
  const auto patches = patches_of(analysis, map);
  const ColourScale scale = scale_for(patches, sheet.method, look);
  const bool relevance = sheet.method == MapMethod::kRelevance;

  Heading heading = heading_of(model, analysis, map);
  heading.detail += ", query " + describe(sheet.query);
  if (!relevance) heading.detail += prefix_text(analysis, map);
  Picture picture{blank(std::max(2 * kMargin + 2 * view.width + 2 * kGap + kBarWidth,
                                 heading_width(heading, kMargin)),
                        kHeadingHeight + kMargin + view.height)};
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
                   .unit = " %",
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

constexpr TextLook kTileLook{.height = 10.0, .colour = kFaintInk};

/// The arrangement of a sheet: of layers and heads, the larger number goes across.
struct SheetPlan {
  size_t layers = 0;
  size_t heads = 0;
  size_t width = 0;  // of a tile
  size_t height = 0;
  size_t left = kMargin, top = kHeadingHeight + 24;

  static constexpr size_t kSpace = 6;

  bool layers_across() const { return layers > heads; }
  size_t cols() const { return layers_across() ? layers : heads; }
  size_t rows() const { return layers_across() ? heads : layers; }
  Box tile(size_t layer, size_t head) const {
    const size_t col = layers_across() ? layer : head, row = layers_across() ? head : layer;
    return {left + col * (width + kSpace), top + row * (height + kSpace), width, height};
  }
};

/// The row with the most heads: an attention pool may have fewer than the layers.
const std::vector<TokenMap>& longest_row(const MapSheet& sheet) {
  return *std::ranges::max_element(sheet.rows, {}, &std::vector<TokenMap>::size);
}

std::string head_label(const TokenMap& map) {
  return map.target ? said(*map.target) : map.head;
}

/// Names of the rows of tiles; empty if there is one row, which needs no name.
std::vector<std::string> row_names(const MapSheet& sheet, const SheetPlan& plan) {
  std::vector<std::string> names;
  if (plan.layers_across()) {
    if (plan.heads == 1) return {};
    for (const TokenMap& map : longest_row(sheet)) names.push_back(head_label(map));
  } else {
    if (sheet.rows.front().front().target) return {};
    for (const auto& row : sheet.rows) names.push_back(row.front().layer);
  }
  return names;
}

std::vector<std::string> column_names(const MapSheet& sheet, const SheetPlan& plan) {
  std::vector<std::string> names;
  if (plan.layers_across()) {
    for (const auto& row : sheet.rows) names.push_back(row.front().layer);
  } else {
    for (const TokenMap& map : longest_row(sheet)) names.push_back(head_label(map));
  }
  return names;
}

SheetPlan plan_sheet(const MapSheet& sheet, const Image& view, bool bare) {
  SheetPlan plan{.layers = sheet.rows.size(), .heads = longest_row(sheet).size()};
  plan.width = tile_edge(plan.cols());
  plan.height = std::max<size_t>(plan.width * view.height / view.width, 1);
  if (bare) {
    plan.left = plan.top = 0;
    return plan;
  }
  constexpr size_t kWidestName = 300;
  size_t widest = 0;
  for (const std::string& name : row_names(sheet, plan))
    widest = std::max(widest, text_width(name, kTileLook) + 10);
  plan.left = kMargin + std::min(widest, kWidestName);
  return plan;
}

/// Names of layers and heads, above the tiles and to their left.
void label_sheet(Picture& picture, const MapSheet& sheet, const SheetPlan& plan) {
  TextLook centred = kTileLook;
  centred.align = Align::kCentre;
  const auto across = column_names(sheet, plan), down = row_names(sheet, plan);
  const auto pitch_x = static_cast<double>(plan.width + SheetPlan::kSpace),
             pitch_y = static_cast<double>(plan.height + SheetPlan::kSpace);
  for (size_t i = 0; i < across.size(); ++i)
    draw_within(picture, across[i], plan.width,
                static_cast<double>(plan.left) + static_cast<double>(i) * pitch_x +
                    0.5 * static_cast<double>(plan.width),
                static_cast<double>(plan.top) - 8.0, centred);
  for (size_t i = 0; i < down.size(); ++i)
    draw_within(picture, down[i], plan.left - kMargin - 8, kMargin,
                static_cast<double>(plan.top) + static_cast<double>(i) * pitch_y +
                    0.5 * static_cast<double>(plan.height) + 4.5,
                kTileLook);
}

Heading sheet_heading(const std::string& model, const ImageAnalysis& analysis,
                      const MapSheet& sheet, const SheetPlan& plan) {
  const TokenMap& first = sheet.rows.front().front();
  std::string detail = model;
  if (first.target) detail += ", relevance";
  detail += ", query " + describe(sheet.query);
  if (plan.heads == 1) detail += ", " + first.head;
  return {answer_text(model, analysis), detail + ", each map with its own colours"};
}

Picture draw_sheet(const std::string& model, const ImageAnalysis& analysis, const MapSheet& sheet,
                   const LookSettings& look) {
  const SheetPlan plan = plan_sheet(sheet, analysis.view, look.bare);
  const Image small = scaled(analysis.view, plan.width, plan.height);
  const Box last = plan.tile(plan.layers - 1, plan.heads - 1);
  const size_t margin = look.bare ? 0 : kMargin;
  const Heading heading = sheet_heading(model, analysis, sheet, plan);
  const size_t least = look.bare ? 0 : heading_width(heading, kMargin);
  Picture picture{
      blank(std::max(last.x + last.width + margin, least), last.y + last.height + margin)};
  if (!look.bare) {
    draw_heading(picture, heading, kMargin);
    label_sheet(picture, sheet, plan);
  }
  for (size_t layer = 0; layer < plan.layers; ++layer)
    for (size_t head = 0; head < sheet.rows[layer].size(); ++head) {
      const TokenMap& map = sheet.rows[layer][head];
      const ColourScale scale = scale_for(patches_of(analysis, map), sheet.method, look);
      Image drawn = draw_overlay(small, analysis, map, scale, look);
      mark_query(drawn, sheet.query, analysis.maps.layout.grid);
      const Box tile = plan.tile(layer, head);
      paste(drawn, tile.x, tile.y, picture);
    }
  return picture;
}

/// The map over the image, as large as the image.
Picture draw_bare(const ImageAnalysis& analysis, const MapSheet& sheet, const LookSettings& look) {
  const TokenMap& map = sheet.rows.front().front();
  Picture drawn{draw_overlay(analysis.view, analysis, map,
                             scale_for(patches_of(analysis, map), sheet.method, look), look)};
  mark_query(drawn, sheet.query, analysis.maps.layout.grid);
  return drawn;
}

}  // namespace

ColourScale scale_for(std::span<const float> patches, const LookSettings& look) {
  const double high = percentile(patches, look.clip_percentile);
  return {.colormap = look.colormap, .low = 0.0, .high = std::max(high, 1e-12)};
}

ColourScale scale_for(std::span<const float> patches, MapMethod method, const LookSettings& look) {
  ColourScale scale = scale_for(patches, look);
  if (method == MapMethod::kRollout) scale.low = *std::ranges::min_element(patches);
  return scale;
}

Picture draw_maps(const std::string& model, const ImageAnalysis& analysis, const MapSheet& sheet,
                  const LookSettings& look) {
  const bool one = sheet.rows.size() == 1 && sheet.rows.front().size() == 1;
  if (one && look.bare) return draw_bare(analysis, sheet, look);
  return one ? draw_one(model, analysis, sheet, look) : draw_sheet(model, analysis, sheet, look);
}

}  // namespace vit::tools
