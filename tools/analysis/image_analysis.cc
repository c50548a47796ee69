#include "tools/analysis/image_analysis.h"

#include <algorithm>
#include <filesystem>

#include "patch/recipe.h"
#include "tools/cli/image_input.h"
#include "tools/draw/canvas.h"
#include "tools/output/format.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr size_t kViewEdge = 640;  ///< least length of the longer edge of a view

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

ImageAnalysis analyze_decoded(const Classifier& classifier, Runner& runner, const std::string& name,
                              const Image& image) {
  runner.prepare(image);

  ImageAnalysis analysis;
  analysis.file = name;
  analysis.size = {.width = image.width, .height = image.height};
  analysis.view = model_view(image, classifier.recipe(), classifier.config());
  try {
    analysis.maps = interpret::capture(runner);
  } catch (const Error& error) {
    fail_at(analysis.file, error.what());
  }
  analysis.patches = copy_of(runner.patches());
  if (classifier.config().head.classes != 0) {
    analysis.probabilities = classifier.probabilities(analysis.maps.output);
    analysis.predictions = classifier.top(analysis.probabilities, 5);
  }
  return analysis;
}

std::vector<Prediction> predictions_among(std::span<const size_t> classes,
                                          const Classifier& classifier,
                                          const ImageAnalysis& analysis) {
  std::vector<Prediction> found =
      classifier.top(analysis.probabilities, analysis.probabilities.size());
  std::erase_if(found, [&](const Prediction& p) {
    return std::ranges::find(classes, p.index) == classes.end();
  });
  return found;
}

ImageAnalysis analyze_image(const Classifier& classifier, const std::string& file,
                            const patch::DecodeOptions& options) {
  const Image image = read_image_input(file, options);
  say_damage(file, image);
  Runner runner = classifier.shared_runner();
  return analyze_decoded(classifier, runner, shown_name(file), image);
}

std::string answer_text(const std::string& model, const ImageAnalysis& analysis,
                        std::span<const Prediction> answers) {
  const std::string name = std::filesystem::path(analysis.file).filename().string();
  if (answers.empty()) return name + ": features of " + model;
  const Prediction& best = answers.front();
  return best.label + "  " + format_percent(best.probability, 1);
}

std::string answer_text(const std::string& model, const ImageAnalysis& analysis) {
  return answer_text(model, analysis, analysis.predictions);
}

}  // namespace vit::tools
