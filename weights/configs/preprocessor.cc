#include <algorithm>
#include <cmath>

#include "vit/base/error.h"
#include "weights/configs/config_files.h"
#include "weights/known/architectures.h"

namespace vit::weights {
namespace {

constexpr double kPixelRange = 255.0;
constexpr size_t kLargestEdge = 1 << 20;

/// What an image processor of transformers does where its file says nothing.
struct Processor {
  std::string_view name;        ///< in image_processor_type, before "ImageProcessor…"
  std::string_view model_type;  ///< of config.json
  size_t size;
  bool short_edge;  ///< a single number is the short edge (else both edges)
  size_t crop;      ///< 0: none
  int resample;     ///< as Pillow counts
  std::string_view statistics;
  bool float_resize = false;      ///< resizes floats, so pixels are not rounded to bytes
  bool crop_rounds_down = false;  ///< see Recipe
};

constexpr Processor kProcessors[] = {
    {"ViT", "vit", 224, false, 0, 2, "half"},
    {"DeiT", "deit", 256, false, 224, 3, "half"},
    {"Bit", "dinov2", 224, true, 224, 3, "clip"},
    {"CLIP", "clip", 224, true, 224, 3, "clip", false, true},
    {"Siglip", "siglip", 224, false, 0, 3, "half"},
    {"-", "beit", 224, false, 0, 2, "half"},  // as its authors publish it
    {"Beit", "data2vec-vision", 224, false, 0, 3, "half"},
    {"DINOv3ViT", "dinov3_vit", 224, false, 0, 2, "imagenet", true},
};

const Processor& processor_of(const Fields* file, const std::string& model_type) {
  std::string type;
  if (file != nullptr) {
    type = file->text("image_processor_type").value_or("");
    if (type.empty()) type = file->text("feature_extractor_type").value_or("");
  }
  const Processor* best = &kProcessors[0];
  for (const auto& known : kProcessors)
    if (model_type.starts_with(known.model_type)) best = &known;
  for (const auto& known : kProcessors)
    if (type.starts_with(known.name)) best = &known;
  return *best;
}

Interpolation pillow_filter(const Fields& file, size_t number) {
  constexpr Interpolation kFilters[] = {Interpolation::kNearest, Interpolation::kLanczos,
                                        Interpolation::kBilinear, Interpolation::kBicubic,
                                        Interpolation::kBox};
  if (number >= std::size(kFilters))
    file.refuse("resample", "0 (nearest), 1 (Lanczos), 2 (bilinear), 3 (bicubic) or 4 (box)");
  return kFilters[number];
}

struct Edges {
  size_t height = 0;
  size_t width = 0;
  bool short_edge = false;
};

/// 224, [224, 224], {"height", "width"} or {"shortest_edge"}.
Edges read_edges(const Fields& file, std::string_view name, Edges otherwise, bool number_is_short) {
  const nlohmann::json* value = file.find(name);
  if (value == nullptr) return otherwise;
  Edges edges;
  if (value->is_number()) {
    edges.height = edges.width = *file.size(name);
    edges.short_edge = number_is_short;
  } else if (value->is_array()) {
    const auto numbers = *file.numbers(name);
    if (numbers.empty() || numbers.size() > 2 || numbers.front() < 0 || numbers.back() < 0)
      file.refuse(name, "one or two sizes");
    edges.height = static_cast<size_t>(std::min(numbers.front(), 1e9));
    edges.width = static_cast<size_t>(std::min(numbers.back(), 1e9));
  } else if (value->is_object()) {
    const Fields sizes = *file.object(name);
    const auto shortest = sizes.size("shortest_edge");
    edges.height = sizes.size("height").value_or(shortest.value_or(0));
    edges.width = sizes.size("width").value_or(shortest.value_or(0));
    edges.short_edge = shortest.has_value();
  }
  if (edges.height == 0 || edges.width == 0 || edges.height > kLargestEdge ||
      edges.width > kLargestEdge)
    file.refuse(name, "a size, height and width, or shortest_edge");
  return edges;
}

void read_resize(const Fields& file, const Processor& processor, Recipe& recipe) {
  const bool resizes = file.flag("do_resize").value_or(true);
  const Edges usual{processor.size, processor.size, processor.short_edge};
  const Edges edges = read_edges(file, "size", usual, processor.short_edge);
  recipe.resize_height = edges.height;
  recipe.resize_width = edges.width;
  recipe.resize = edges.short_edge ? ResizeMode::kShortEdge : ResizeMode::kSquash;
  if (!resizes) recipe.resize = ResizeMode::kNone;
  recipe.interpolation =
      pillow_filter(file, file.size("resample").value_or(static_cast<size_t>(processor.resample)));
}

void read_crop(const Fields& file, const Processor& processor, const ModelConfig& config,
               Recipe& recipe) {
  const bool crops = file.flag("do_center_crop").value_or(processor.crop != 0);
  if (crops) {
    const Edges usual{processor.crop == 0 ? config.embedding.image_height : processor.crop,
                      processor.crop == 0 ? config.embedding.image_width : processor.crop, false};
    const Edges edges = read_edges(file, "crop_size", usual, false);
    recipe.crop_height = edges.height;
    recipe.crop_width = edges.width;
  } else if (recipe.resize == ResizeMode::kSquash) {
    recipe.crop_height = recipe.resize_height;
    recipe.crop_width = recipe.resize_width;
  } else {  // nothing fixes the size, so the model does
    recipe.crop_height = config.embedding.image_height;
    recipe.crop_width = config.embedding.image_width;
  }
}

void read_triple(const Fields& file, std::string_view name, std::array<float, 3>& values) {
  const nlohmann::json* value = file.find(name);
  if (value == nullptr) return;
  if (value->is_number()) {
    values.fill(value->get<float>());
    if (!std::isfinite(values.front())) file.refuse(name, "a finite number");
    return;
  }
  values = *file.triple(name);
}

void read_statistics(const Fields& file, const Processor& processor, Recipe& recipe) {
  set_statistics(processor.statistics, recipe);
  read_triple(file, "image_mean", recipe.mean);
  read_triple(file, "image_std", recipe.std);
  if (!file.flag("do_normalize").value_or(true)) set_statistics("unit", recipe);
  // Our pixels are byte / 255. Another factor, or none, is the same as other statistics.
  const bool rescales = file.flag("do_rescale").value_or(true);
  const double factor = rescales ? file.number("rescale_factor").value_or(1.0 / kPixelRange) : 1.0;
  const double range = factor * kPixelRange;
  if (!(range > 0.0)) file.refuse("rescale_factor", "a positive number");
  if (std::abs(range - 1.0) < 1e-3) return;
  for (auto* values : {&recipe.mean, &recipe.std})
    for (float& value : *values) value = static_cast<float>(value / range);
}

}  // namespace

Recipe read_preprocessor(const Fields& file, const std::string& model_type,
                         const ModelConfig& config) {
  const Processor& processor = processor_of(&file, model_type);
  Recipe recipe;
  read_resize(file, processor, recipe);
  read_crop(file, processor, config, recipe);
  read_statistics(file, processor, recipe);
  recipe.float_resize = processor.float_resize;
  recipe.crop_rounds_down = processor.crop_rounds_down;
  for (const float deviation : recipe.std)
    if (!(deviation > 0.0f)) file.refuse("image_std", "positive numbers");
  return recipe;
}

Recipe default_hf_recipe(const std::string& model_type, const ModelConfig& config) {
  const Processor& processor = processor_of(nullptr, model_type);
  const auto enlarged = [&](size_t size) {
    return processor.crop == 0 ? size : size * processor.size / processor.crop;
  };
  Recipe recipe;
  recipe.resize = processor.short_edge ? ResizeMode::kShortEdge : ResizeMode::kSquash;
  recipe.resize_height = enlarged(config.embedding.image_height);
  recipe.resize_width = enlarged(config.embedding.image_width);
  recipe.crop_height = config.embedding.image_height;
  recipe.crop_width = config.embedding.image_width;
  recipe.interpolation =
      processor.resample == 2 ? Interpolation::kBilinear : Interpolation::kBicubic;
  recipe.float_resize = processor.float_resize;
  recipe.crop_rounds_down = processor.crop_rounds_down;
  set_statistics(processor.statistics, recipe);
  return recipe;
}

}  // namespace vit::weights
