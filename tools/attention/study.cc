#include "tools/attention/study.h"

#include <algorithm>

#include "patch/recipe.h"
#include "tools/cli/image_input.h"
#include "tools/draw/heatmap.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

/// Numbers of four bytes: ViT-H/14 at 518 pixels has 961 million.
constexpr size_t kMostAttentionWeights = size_t{1} << 30;
constexpr size_t kViewEdge = 640;  ///< no view has a longer edge that is shorter

patch::ResizeWindow enlarged(const patch::ResizeWindow& w, size_t factor) {
  return {w.resized_width * factor, w.resized_height * factor, w.x * factor, w.y * factor,
          w.width * factor,         w.height * factor};
}

Image cropped(const Image& image, size_t width, size_t height) {
  Image out = blank(width, height);
  paste(image, 0, 0, out);
  return out;
}

}  // namespace

Image model_view(const Image& image, const Recipe& recipe, const ModelConfig& config) {
  const size_t edge = std::max(recipe.crop_width, recipe.crop_height);
  const size_t factor = (kViewEdge + edge - 1) / edge;
  const patch::Placement place = patch::place(image.width, image.height, recipe);
  Colour padding{0, 0, 0};
  if (recipe.resize == ResizeMode::kBorder)
    std::ranges::transform(recipe.mean, padding.begin(),
                           [](float mean) { return static_cast<std::uint8_t>(255.0f * mean); });
  Image crop = blank(recipe.crop_width * factor, recipe.crop_height * factor, padding);
  paste(patch::resize_window(image, enlarged(place.window, factor), recipe.interpolation),
        place.left * factor, place.top * factor, crop);
  const GridSize grid = config.embedding.grid();
  return cropped(crop, grid.cols * config.embedding.patch_width * factor,
                 grid.rows * config.embedding.patch_height * factor);
}

void check_attention_size(const Classifier& classifier) {
  const ModelConfig& config = classifier.config();
  const size_t tokens = config.embedding.tokens(),
               heads = config.encoder.heads * config.encoder.branches;
  // In floating point: the product may not fit into 64 bits.
  const double weights = static_cast<double>(config.encoder.depth) * static_cast<double>(heads) *
                         static_cast<double>(tokens) * static_cast<double>(tokens);
  if (weights <= static_cast<double>(kMostAttentionWeights)) return;
  fail(classifier.name(), ": its attention at this image size has ", config.encoder.depth,
       " layers x ", heads, " heads x ", tokens, " x ", tokens, " tokens, which would take ",
       number_text("%.1f GB", weights * sizeof(float) / 1e9), "; at most ",
       number_text("%.1f GB", static_cast<double>(kMostAttentionWeights) * sizeof(float) / 1e9),
       " are held; choose a smaller --image-size");
}

Study study_image(const Classifier& classifier, const std::string& file,
                  const patch::DecodeOptions& options) {
  const Image image = read_image_input(file, options);
  say_damage(file, image);
  Runner runner = classifier.shared_runner();
  runner.prepare(image);

  Study study;
  study.file = shown_name(file);
  study.size = {.width = image.width, .height = image.height};
  study.view = model_view(image, classifier.recipe(), classifier.config());
  try {
    study.maps = interpret::capture(runner);
  } catch (const Error& error) {
    fail(study.file, ": ", error.what());
  }
  study.patches = std::move(runner.workspace().patches);
  if (classifier.config().head.classes != 0)
    study.predictions = classifier.top(classifier.probabilities(study.maps.output), 5);
  return study;
}

}  // namespace vit::tools
