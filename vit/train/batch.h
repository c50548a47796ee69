/// Samples to what a network reads: augmented, mixed with each other, cut into patches.
#pragma once

#include <span>
#include <vector>

#include "patch/recipe.h"
#include "vit/base/config.h"
#include "vit/data/dataset.h"
#include "vit/train/augment.h"
#include "vit/train/teaching.h"

namespace vit::train {

struct Mixing {
  double mixup = 0.0;   ///< alpha of the Beta distribution, 0: never
  double cutmix = 0.0;  ///< alpha, 0: never; with both, each batch takes one or the other
  double probability = 1.0;
};

/// How targets and pixels are made.
struct BatchRule {
  Recipe recipe;
  Augmentation augmentation;
  /// An image is mirrored in every other epoch instead of by chance; a drawn half begins with it.
  bool alternate_flips = false;
  Mixing mixing;
  double label_smoothing = 0.1;
  const Teaching* teaching = nullptr;  ///< its table is complete
  std::uint64_t seed = 0;
};

/// The crop that a teacher is shown: one of as many as its table has per image.
patch::Image teacher_crop(const patch::Image& image, const BatchRule& rule, size_t index,
                          size_t crop);

/// A rectangle of an image, in pixels.
struct Box {
  size_t top = 0;
  size_t left = 0;
  size_t rows = 0;
  size_t cols = 0;
};

/// The same seed, epoch and samples give the same batch, whatever the workers.
class BatchMaker {
 public:
  BatchMaker(const data::Dataset& dataset, const ModelConfig& config, const BatchRule& rule);

  /// `indices` of training images. Adding the number of them gives the same image with other random
  /// numbers, for images that come several times in an epoch.
  void make(std::span<const size_t> indices, std::uint64_t epoch, ThreadPool* pool);

  size_t images() const { return images_; }
  /// [count·N, 3·P·P], from the `first` image on.
  ConstMatrixView patches(size_t first, size_t count) const;
  /// [count, classes]
  ConstMatrixView targets(size_t first, size_t count) const;

 private:
  void draw(std::span<const size_t> indices, std::uint64_t epoch, size_t i);
  /// What all images of a batch take from their partners: a share, as a mixture or as a box.
  struct Mixture {
    double share = 0.0;
    Box box{};  // no rows: a mixture
  };
  Mixture draw_mixture(size_t first_index, std::uint64_t epoch) const;
  void mix(const Mixture& mixture, size_t i);
  void paste(std::span<const float> from, const Box& box, std::span<float> to) const;

  const data::Dataset& dataset_;
  const ModelConfig& config_;
  const BatchRule& rule_;
  size_t images_ = 0;
  Matrix drawn_;     // [B, 3·H·W] before mixing
  Matrix mixed_;     // the same after it
  Matrix labels_;    // [B, classes] before mixing
  Matrix targets_;   // after it
  Matrix opinions_;  // [B, classes] of a teacher
  Matrix patches_;   // [B·N, 3·P·P]
};

/// What one worker needs to see images as inference does.
struct PatchScratch {
  patch::RecipeScratch recipe;
  Matrix pixels;  ///< [3, H·W]
};

/// An image as inference sees it, to [N, 3·P·P].
void make_patches(const patch::Image& image, const Recipe& recipe, const ModelConfig& config,
                  PatchScratch& scratch, MatrixView patches);

}  // namespace vit::train
