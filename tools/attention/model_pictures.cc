#include "tools/attention/model_pictures.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/analysis/picture.h"
#include "tools/attention/raw.h"
#include "tools/cli/model_files.h"
#include "tools/output/format.h"
#include "tools/output/numpy.h"
#include "vit/base/error.h"
#include "vit/interpret/first_layer.h"
#include "vit/model/model.h"

namespace vit::tools {
namespace {

constexpr size_t kMargin = 20;
constexpr size_t kFilters = 28;  // as many as the paper shows

std::string rows_json(const std::string& model, const char* name, ConstMatrixView rows) {
  nlohmann::ordered_json json{{"model", model}, {name, nlohmann::ordered_json::array()}};
  for (size_t r = 0; r < rows.rows; ++r)
    json[name].push_back(std::vector<float>(rows.row(r), rows.row(r) + rows.cols));
  return json.dump(1) + "\n";
}

void check_finite(const Classifier& classifier, const Matrix& numbers, const char* what) {
  if (!interpret::all_finite({numbers.data(), numbers.size()}))
    fail_at(classifier.name(), what, " is NaN or infinite; its weights are damaged");
}

std::string ending_of(const AttentionSettings& settings) {
  return std::filesystem::path(settings.output).extension().string();
}

Picture draw_positions(const std::string& model, const Matrix& similarity, GridSize grid,
                       const LookSettings& look) {
  const size_t cell = std::max<size_t>(
      1, 1100 / (std::max(grid.rows, grid.cols) * (std::max(grid.rows, grid.cols) + 1)));
  const size_t tile_x = (grid.cols + 1) * cell, tile_y = (grid.rows + 1) * cell;
  const Box maps{kMargin + 22, kHeadingHeight + 22, grid.cols * tile_x, grid.rows * tile_y};
  const Heading heading{"Position embeddings",
                        model + ", cosine similarity of each patch's position to all others"};
  Picture picture{blank(
      std::max(maps.x + maps.width + kBarWidth + 2 * kMargin, heading_width(heading, kMargin)),
      maps.y + maps.height + kMargin)};
  draw_heading(picture, heading, kMargin);
  const float least = *std::min_element(similarity.data(), similarity.data() + similarity.size());
  const ColourScale scale{
      .colormap = look.colormap, .low = std::floor(10.0 * least) / 10.0, .high = 1.0};
  TextLook label{.height = 8.0, .colour = kFaintInk};
  label.align = Align::kCentre;
  for (size_t i = 0; i < grid.count(); ++i)
    paste(heat_cells(similarity.view().row_span(i), grid.cols, cell, scale),
          maps.x + i % grid.cols * tile_x, maps.y + i / grid.cols * tile_y, picture);
  const auto middle = [](size_t first, size_t tile, size_t at) {
    return static_cast<double>(first + at * tile) + static_cast<double>(tile) / 2.0;
  };
  for (size_t c = 0; c < grid.cols; ++c)
    draw_text(picture, std::to_string(c), middle(maps.x, tile_x, c),
              static_cast<double>(maps.y) - 8.0, label);
  for (size_t r = 0; r < grid.rows; ++r)
    draw_text(picture, std::to_string(r), static_cast<double>(maps.x) - 14.0,
              middle(maps.y, tile_y, r) + 4.0, label);
  colour_bar(picture, {maps.x + maps.width + 12, maps.y, kBarWidth, maps.height}, scale,
             {.title = "cosine similarity", .format = "%.2f"});
  return picture;
}

/// A component as colours: grey where it is zero, full where it is largest.
Image filter_image(std::span<const float> component, const ModelConfig& config) {
  const size_t area = config.embedding.patch_height * config.embedding.patch_width;
  float largest = 1e-12f;
  for (const float value : component) largest = std::max(largest, std::abs(value));
  const ColourScale scale{.low = -largest, .high = largest};
  Image image = blank(config.embedding.patch_width, config.embedding.patch_height);
  for (size_t i = 0; i < area; ++i)
    for (size_t c = 0; c < 3; ++c)
      image.pixels[3 * i + c] = static_cast<std::uint8_t>(scale.index(component[c * area + i]));
  return image;
}

Picture draw_filters(const std::string& model, const ModelConfig& config,
                     const interpret::FilterComponents& found) {
  constexpr size_t kCols = 7, kSpace = 10, kLabel = 16;
  const size_t factor = std::max<size_t>(1, 96 / config.embedding.patch_width);
  const size_t width = factor * config.embedding.patch_width,
               height = factor * config.embedding.patch_height;
  const size_t rows = (found.components.rows() + kCols - 1) / kCols;
  double total = 0.0;
  for (const double share : found.share) total += share;
  const Heading heading{"Patch filters", model + ", first " + std::to_string(found.share.size()) +
                                             " principal components, " + format_percent(total, 0) +
                                             " of the variance"};
  Picture picture{blank(
      std::max(2 * kMargin + kCols * (width + kSpace) - kSpace, heading_width(heading, kMargin)),
      kHeadingHeight + rows * (height + kSpace + kLabel) + kMargin - kSpace)};
  draw_heading(picture, heading, kMargin);
  TextLook label{.height = 8.0, .colour = kFaintInk};
  label.align = Align::kCentre;
  for (size_t i = 0; i < found.components.rows(); ++i) {
    const size_t x = kMargin + i % kCols * (width + kSpace);
    const size_t y = kHeadingHeight + i / kCols * (height + kSpace + kLabel);
    paste(scaled(filter_image(found.components.view().row_span(i), config), width, height), x, y,
          picture);
    draw_text(picture, format_percent(found.share[i], 1),
              static_cast<double>(x) + static_cast<double>(width) / 2.0,
              static_cast<double>(y + height) + 13.0, label);
  }
  return picture;
}

}  // namespace

std::string positions_bytes(const Classifier& classifier, const AttentionSettings& settings) {
  const Matrix similarity = interpret::position_similarity(classifier.runner().model());
  check_finite(classifier, similarity, "the similarity of its positions");
  const GridSize grid = classifier.config().embedding.grid();
  if (settings.kind == FileKind::kNumpy)
    return npy_bytes({similarity.data(), similarity.size()},
                     {grid.rows, grid.cols, grid.rows, grid.cols});
  if (settings.kind == FileKind::kJson)
    return rows_json(shown_model(settings.model.model, classifier), "similarity", similarity);
  return encode_picture(draw_positions(shown_model(settings.model.model, classifier), similarity,
                                       grid, settings.look),
                        ending_of(settings));
}

std::string filters_bytes(const Classifier& classifier, const AttentionSettings& settings) {
  const ModelConfig& config = classifier.config();
  if (config.embedding.conv_stem)
    fail_at(classifier.name(), "its patch kernel reads what convolutions make of the pixels, not ",
            "pixels, and cannot be shown as pictures");
  const auto found = interpret::filter_components(classifier.runner().model(), kFilters);
  check_finite(classifier, found.components, "the decomposition of its patch filters");
  if (settings.kind == FileKind::kNumpy)
    return npy_bytes(
        {found.components.data(), found.components.size()},
        {found.components.rows(), 3, config.embedding.patch_height, config.embedding.patch_width});
  if (settings.kind == FileKind::kJson)
    return rows_json(shown_model(settings.model.model, classifier), "components", found.components);
  return encode_picture(draw_filters(shown_model(settings.model.model, classifier), config, found),
                        ending_of(settings));
}

}  // namespace vit::tools
