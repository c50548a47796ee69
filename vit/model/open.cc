#include "vit/model/open.h"

#include "patch/patchify.h"
#include "vit/base/error.h"
#include "vit/model/word_classes.h"

namespace vit {
namespace {

void check_fits(const Recipe& recipe, const EmbeddingConfig& embedding) {
  try {
    patch::patch_grid(recipe.crop_height, recipe.crop_width, embedding.patch_height,
                      embedding.patch_width);
  } catch (const Error& error) {
    throw UnfitImageSize(error.what(), error.where().size());
  }
}

}  // namespace

weights::Checkpoint open_checkpoint(const std::filesystem::path& model,
                                    const ClassifierOptions& options) {
  weights::Checkpoint checkpoint = weights::open(model, {.heads = options.heads});
  set_classes(checkpoint, options);
  return checkpoint;
}

void set_classes(weights::Checkpoint& checkpoint, const ClassifierOptions& options) {
  if (options.words)
    set_classes(checkpoint, *options.words, options.threads);
  else
    set_features_as_output(checkpoint);
}

void set_input(weights::Checkpoint& checkpoint, size_t height, size_t width,
               std::optional<PositionResampling> positions) {
  EmbeddingConfig& embedding = checkpoint.config.embedding;
  Recipe recipe = checkpoint.recipe;
  if (height != 0 || width != 0)
    recipe = scaled_to(recipe, height != 0 ? height : recipe.crop_height,
                       width != 0 ? width : recipe.crop_width);
  if (recipe != checkpoint.recipe) check_fits(recipe, embedding);
  validate(recipe, checkpoint.path);
  checkpoint.recipe = recipe;
  embedding.image_height = recipe.crop_height;
  embedding.image_width = recipe.crop_width;
  if (positions) embedding.position_resampling = *positions;
}

std::string name_of(const weights::Checkpoint& checkpoint) {
  const std::string& name = checkpoint.config.architecture;
  return name.empty() ? std::filesystem::path(checkpoint.path).stem().string() : name;
}

}  // namespace vit
