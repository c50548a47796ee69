#include "vit/train/batch.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "patch/patchify.h"
#include "vit/base/error.h"
#include "vit/train/loss.h"

namespace vit::train {
namespace {

// What a stream of random numbers is for, so that no two share one.
constexpr std::uint64_t kImageStream = 1;
constexpr std::uint64_t kMixStream = 2;
constexpr std::uint64_t kCropStream = 6;
constexpr std::uint64_t kFlipStream = 8;

MatrixView as_planes(float* pixels, const ModelConfig& config) {
  return {pixels, config.embedding.channels,
          config.embedding.image_height * config.embedding.image_width};
}

/// A rectangle that covers about `share` of the image.
Box random_box(const ModelConfig& c, double share, Random& random) {
  const double edge = std::sqrt(share);
  const auto part = [&](size_t n) {
    return static_cast<size_t>(std::lround(static_cast<double>(n) * edge));
  };
  const size_t rows = part(c.embedding.image_height), cols = part(c.embedding.image_width);
  return {random.below(c.embedding.image_height - rows + 1),
          random.below(c.embedding.image_width - cols + 1), rows, cols};
}

/// A stem's batch norms would have to learn with it.
void check_learns(const ModelConfig& config) {
  if (config.embedding.conv_stem)
    fail_at(config.architecture,
            "its stem of convolutions is not trained here; train a classifier ",
            "on its features, or choose a model without stem");
}

/// How an image is changed in an epoch or, where the crops are counted, in a crop.
Augmentation augmentation_of(const BatchRule& rule, size_t image, std::uint64_t turn) {
  Augmentation how = rule.augmentation;
  if (rule.alternate_flips)
    how.mirrored = Random({rule.seed, kFlipStream, image}).chance(0.5) != (turn % 2 == 1);
  return how;
}

}  // namespace

patch::Image teacher_crop(const BatchSource& source, const BatchRule& rule, size_t image,
                          size_t crop) {
  Random random({rule.seed, kCropStream, crop, image});
  return draw_crop(source.dataset.train[image].image, source.recipe,
                   augmentation_of(rule, image, crop), random);
}

std::vector<size_t> labels_of(std::span<const data::Sample> samples) {
  std::vector<size_t> labels;
  labels.reserve(samples.size());
  for (const data::Sample& sample : samples) labels.push_back(sample.label);
  return labels;
}

BatchMaker::BatchMaker(const BatchSource& source, const ModelConfig& config, const BatchRule& rule)
    : source_(source), config_(config), rule_(rule) {
  check_learns(config);
}

void BatchMaker::draw(const Draw& draw, std::uint64_t epoch, size_t i) {
  const data::Sample& sample = source_.dataset.train[draw.image];
  const Recipe& recipe = source_.recipe;
  Random random({rule_.seed, kImageStream, epoch, key_of(draw)});
  const MatrixView planes = as_planes(drawn_.view().row(i), config_);
  const std::span<float> target = labels_.view().row_span(i);
  set_label(sample.label, rule_.label_smoothing, target);
  const Augmentation how = augmentation_of(rule_, draw.image, epoch);
  if (source_.teaching == nullptr) return augment(sample.image, recipe, how, random, planes);
  const TeacherTable& table = source_.teaching->table;
  if (table.shape().crops == 0)
    augment(sample.image, recipe, how, random, planes);
  else  // what the teacher saw
    finish_crop(teacher_crop(source_, rule_, draw.image, table.crop_of(epoch)), recipe, how, random,
                planes);
  const std::span<float> opinion = opinions_.view().row_span(i);
  table.get(epoch, draw.image, opinion);
  blend(opinion, source_.teaching->share, target);
}

/// Image i takes part of its mirror image in the batch.
void BatchMaker::mix(const Mixture& mixture, size_t i) {
  const size_t other = images_ - 1 - i;
  const auto own = drawn_.view().row_span(i), partner = drawn_.view().row_span(other);
  const auto out = mixed_.view().row_span(i), target = targets_.view().row_span(i);
  std::copy(own.begin(), own.end(), out.begin());
  std::copy_n(labels_.view().row(i), target.size(), target.begin());
  if (mixture.share > 0.0 && other != i) {
    blend(labels_.view().row_span(other), mixture.share, target);
    if (mixture.box.rows == 0)
      blend(partner, mixture.share, out);
    else
      paste(partner, mixture.box, out);
  }
  const size_t patches = config_.embedding.grid().count();
  patch::patchify(as_planes(out.data(), config_), config_.embedding.image_width,
                  config_.embedding.patch_height, config_.embedding.patch_width,
                  patches_.view().row_range(i * patches, patches));
}

void BatchMaker::make(std::span<const Draw> draws, std::uint64_t epoch, ThreadPool* pool) {
  images_ = draws.size();
  if (drawn_.rows() < images_) {
    const size_t pixels =
        config_.embedding.channels * config_.embedding.image_height * config_.embedding.image_width;
    drawn_ = Matrix(images_, pixels);
    mixed_ = Matrix(images_, pixels);
    labels_ = Matrix(images_, source_.dataset.labels.size());
    if (source_.teaching != nullptr) opinions_ = Matrix(images_, source_.dataset.labels.size());
    targets_ = Matrix(images_, source_.dataset.labels.size());
    patches_ = Matrix(images_ * config_.embedding.grid().count(), config_.embedding.patch_size());
  }
  parallel_for(pool, images_, [&](size_t i, size_t) { draw(draws[i], epoch, i); });
  const Mixture mixture = draw_mixture(draws.front(), epoch);
  parallel_for(pool, images_, [&](size_t i, size_t) { mix(mixture, i); });
}

BatchMaker::Mixture BatchMaker::draw_mixture(const Draw& first, std::uint64_t epoch) const {
  const Mixing& mixing = rule_.mixing;
  Random random({rule_.seed, kMixStream, epoch, key_of(first)});
  if ((mixing.mixup <= 0.0 && mixing.cutmix <= 0.0) || !random.chance(mixing.probability))
    return {};
  const bool boxes = mixing.mixup <= 0.0 || (mixing.cutmix > 0.0 && random.chance(0.5));
  const double share = random.symmetric_beta(boxes ? mixing.cutmix : mixing.mixup);
  if (!boxes) return {share, {}};
  const Box box = random_box(config_, share, random);
  const double plane =
      static_cast<double>(config_.embedding.image_height * config_.embedding.image_width);
  return {static_cast<double>(box.rows * box.cols) / plane, box};
}

void BatchMaker::paste(std::span<const float> from, const Box& box, std::span<float> to) const {
  const size_t width = config_.embedding.image_width,
               plane = width * config_.embedding.image_height;
  for (size_t c = 0; c < config_.embedding.channels; ++c)
    for (size_t y = box.top; y < box.top + box.rows; ++y) {
      const size_t at = c * plane + y * width + box.left;
      std::copy_n(from.data() + at, box.cols, to.data() + at);
    }
}

ConstMatrixView BatchMaker::patches(size_t first, size_t count) const {
  const size_t each = config_.embedding.grid().count();
  return patches_.view().row_range(first * each, count * each);
}

ConstMatrixView BatchMaker::targets(size_t first, size_t count) const {
  return targets_.view().row_range(first, count);
}

void make_patches(const patch::Image& image, const Recipe& recipe, const ModelConfig& config,
                  PatchScratch& scratch, MatrixView patches) {
  check_learns(config);
  const size_t pixels = config.embedding.image_height * config.embedding.image_width;
  if (scratch.pixels.cols() != pixels) scratch.pixels = Matrix(config.embedding.channels, pixels);
  patch::apply_recipe(image, recipe, scratch.recipe, scratch.pixels, active_isa());
  patch::patchify(scratch.pixels, config.embedding.image_width, config.embedding.patch_height,
                  config.embedding.patch_width, patches);
}

}  // namespace vit::train
