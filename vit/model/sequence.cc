#include "vit/model/sequence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "patch/position.h"
#include "vit/base/error.h"
#include "vit/model/load.h"

namespace vit {
namespace {

size_t scaled_edge(size_t edge, size_t patch, double factor) {
  const double patches = std::ceil(static_cast<double>(edge) * factor / static_cast<double>(patch));
  return std::max(static_cast<size_t>(patches), size_t{1}) * patch;
}

InputSize scaled(InputSize image, InputSize patch, double factor) {
  return {scaled_edge(image.height, patch.height, factor),
          scaled_edge(image.width, patch.width, factor)};
}

void check_resamples(const ModelConfig& c, const std::string& where) {
  const char* what = nullptr;
  if (c.encoder.rotary.kind != RotaryKind::kNone) what = "rotary positions";
  if (c.encoder.relative_bias.kind != RelativeBiasKind::kNone) what = "a relative position bias";
  if (what != nullptr)
    fail_at(where, "this model has ", what, " made for one size of all images; expected a model ",
            "with a table of positions, such as naflexvit_base_patch16_gap.e300_s576_in1k");
}

/// The recipe with another size, which both edges of the image get.
Recipe squashed_to(Recipe recipe, InputSize size) {
  recipe.resize = ResizeMode::kSquash;
  recipe.resize_height = recipe.crop_height = size.height;
  recipe.resize_width = recipe.crop_width = size.width;
  return recipe;
}

}  // namespace

InputSize sequence_size(InputSize image, InputSize patch, size_t most_patches) {
  // timm's bisection, step by step: its last factor decides between neighbouring sizes.
  constexpr double kPrecision = 1e-5;
  double fits = 1e-6, too_large = 100.0;
  while (too_large - fits >= kPrecision) {
    const double factor = (fits + too_large) / 2.0;
    const InputSize size = scaled(image, patch, factor);
    const size_t patches = size.height / patch.height * (size.width / patch.width);
    (patches <= most_patches ? fits : too_large) = factor;
  }
  return scaled(image, patch, fits);
}

SequenceRunner::SequenceRunner(const weights::Checkpoint& checkpoint, Model model,
                               const SequenceOptions& options)
    : model_(std::move(model)),
      recipe_(checkpoint.recipe),
      table_(stored_positions(checkpoint)),
      options_(options) {
  check_resamples(checkpoint.config, checkpoint.path);
  Runner(model_, recipe_, options_.run);  // options that the model cannot satisfy are refused now
}

Runner& SequenceRunner::runner_for(const Image& image) {
  EmbeddingConfig& c = model_.config.embedding;
  const InputSize size = sequence_size({image.height, image.width}, {c.patch_height, c.patch_width},
                                       options_.most_patches);
  if (runner_ != nullptr && size == InputSize{c.image_height, c.image_width}) return *runner_;
  runner_.reset();
  c.image_height = size.height;
  c.image_width = size.width;
  check_tokens(model_.config, options_.most_tokens, place_of(model_.config));
  const Matrix positions = patch::positions_for(c, model_.config.encoder.width, table_);
  if (!positions.empty())
    model_.embedding.positions =
        copy_of(positions.view().row_range(positions.rows() - c.grid().count(), c.grid().count()));
  runner_ = std::make_unique<Runner>(model_, squashed_to(recipe_, size), options_.run);
  return *runner_;
}

std::vector<float> SequenceRunner::logits(const Image& image) {
  const std::lock_guard lock(mutex_);
  const std::span<const float> logits = runner_for(image).logits(image);
  return {logits.begin(), logits.end()};
}

std::vector<float> SequenceRunner::features(const Image& image, FeatureKind kind) {
  const std::lock_guard lock(mutex_);
  return runner_for(image).features(image, kind);
}

}  // namespace vit
