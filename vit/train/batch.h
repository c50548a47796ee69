/// Samples to what a network reads: augmented, mixed with each other, cut into patches.
#pragma once

#include <compare>
#include <cstdint>
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

/// What batches are made of. `dataset` and `teaching` must outlive what is made from it.
struct BatchSource {
  const data::Dataset& dataset;
  Recipe recipe{};
  const Teaching* teaching = nullptr;  ///< null: none; its table is complete
};

/// How targets and pixels are made.
struct BatchRule {
  Augmentation augmentation;
  /// An image is mirrored in every other epoch instead of by chance; a drawn half begins with it.
  bool alternate_flips = false;
  Mixing mixing;
  double label_smoothing = 0.1;
  std::uint64_t seed = 0;
};

/// An image of a batch. Those that an epoch shows again have other random numbers each time.
struct Draw {
  size_t image = 0;   ///< of the training images
  size_t repeat = 0;  ///< how often the epoch had it before

  /// What its random numbers depend on. `images`: how many there are.
  std::uint64_t key(size_t images) const { return image + repeat * images; }
  auto operator<=>(const Draw&) const = default;
};

/// The crop of a training image that a teacher is shown: one of as many as its table has per image.
patch::Image teacher_crop(const BatchSource& source, const BatchRule& rule, size_t image,
                          size_t crop);

/// The label of each sample.
std::vector<size_t> labels_of(std::span<const data::Sample> samples);

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
  /// `config` and `rule` must outlive it.
  BatchMaker(const BatchSource& source, const ModelConfig& config, const BatchRule& rule);

  void make(std::span<const Draw> draws, std::uint64_t epoch, ThreadPool* pool);

  size_t images() const { return images_; }
  /// [count·N, 3·P·P], from the `first` image on.
  ConstMatrixView patches(size_t first, size_t count) const;
  /// [count, classes]
  ConstMatrixView targets(size_t first, size_t count) const;

 private:
  std::uint64_t key_of(const Draw& draw) const { return draw.key(source_.dataset.train.size()); }
  void draw(const Draw& draw, std::uint64_t epoch, size_t i);
  /// What all images of a batch take from their partners: a share, as a mixture or as a box.
  struct Mixture {
    double share = 0.0;
    Box box{};  // no rows: a mixture
  };
  Mixture draw_mixture(const Draw& first, std::uint64_t epoch) const;
  void mix(const Mixture& mixture, size_t i);
  void paste(std::span<const float> from, const Box& box, std::span<float> to) const;

  BatchSource source_;
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
