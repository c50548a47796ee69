/// One training run: where it is, and how it takes its next step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vit/base/random.h"
#include "vit/gradient/network.h"
#include "vit/train/batch.h"
#include "vit/train/loss.h"
#include "vit/train/optimizer.h"
#include "vit/train/state.h"

namespace vit::train {

/// What makes rare classes count as much as frequent ones. The numbers of the enumerators are part
/// of the fingerprints of runs.
enum class Balance {
  kNone,
  kWeights,   ///< an image counts by the inverse of the size of its class
  kSampling,  ///< an epoch draws as many images, and equally many of each class
};
constexpr auto enum_names(Balance) {
  using enum Balance;
  return std::to_array<EnumName<Balance>>(
      {{kNone, "none"}, {kWeights, "weights"}, {kSampling, "sampling"}});
}

struct Settings {
  size_t epochs = 100;
  size_t batch = 128;
  double rate = 1e-3;
  double least_rate = 1e-5;
  double warmup_epochs = 5.0;
  OptimizerKind optimizer = OptimizerKind::kAdamW;
  AdamW adam;
  double clip = 1.0;         ///< the largest norm of a gradient, 0: any
  double average = 0.999;    ///< decay of the running average of the weights, 0: none
  double layer_decay = 1.0;  ///< below 1: lower layers learn more slowly
  /// The batches of an epoch hold every image, so their sizes may differ by one; else the remainder
  /// is left out, other images in every epoch.
  bool every_image = false;
  Balance balance = Balance::kNone;
  size_t low_rank = 0;  ///< rank of the adapters that learn instead of the matrices; 0: all learns
  double drop_path = 0.0;  ///< how often the last layer's updates are skipped; linear in depth
  /// Share of the patches that training sees (a new random choice for every image), growing
  /// evenly from the first epoch to the last one before `whole_epochs`, which see all patches. Half
  /// of them costs half the time.
  double first_keep_patches = 1.0;
  double keep_patches = 1.0;
  size_t whole_epochs = 0;
  /// What the inputs of products are rounded to; weights, sums and gradients are floats. kBf16 only
  /// where has_bf16().
  Operands operands = Operands::kF32;
  BatchRule batches;  ///< its seed is the seed of the run
};

/// Deterministic: the same data, settings and seed give the same weights, whatever the number of
/// workers. A batch is cut into a fixed number of shards whose gradients are summed in order.
class Trainer {
 public:
  /// `fingerprint`: of all that decides the result; a checkpoint of another one is refused.
  Trainer(gradient::Network<float> network, const BatchSource& source, const Settings& settings,
          ThreadPool& pool, std::uint64_t fingerprint = 0);
  ~Trainer();

  /// The network with the current weights. With adapters, this and merge_average() compute the
  /// matrices into one memory: the last call decides whose weights the views show, and a step
  /// overwrites them.
  gradient::NetworkView<float> merge_weights() { return merged_view_of(state_.numbers); }
  /// With the averaged weights, where there are any: what is evaluated and kept.
  gradient::NetworkView<float> merge_average() {
    return merged_view_of(state_.average.empty() ? state_.numbers : state_.average);
  }
  /// How many numbers learn.
  size_t learning() const { return learning_; }

  const State& state() const { return state_; }
  /// Continues the run of a checkpoint. Throws an Error if any of it does not fit.
  void restore(const std::filesystem::path& checkpoint);
  /// The model file of the best epoch is lost: no epoch before the current weights is compared.
  void forget_best();

  size_t steps_per_epoch() const { return steps_per_epoch_; }
  size_t images_per_epoch() const { return first_of(steps_per_epoch_); }
  /// The images of the current epoch in their order, as BatchMaker::make() takes them.
  const std::vector<Draw>& epoch_order();
  bool epoch_done() const { return state_.step == steps_per_epoch_; }
  bool done() const { return state_.epoch == settings_.epochs; }
  double rate() const;          ///< of the next step
  size_t patches_seen() const;  ///< of each image, in the current epoch

  /// One batch: forward, backward, update. Throws an Error when the loss becomes NaN or infinite.
  /// `rate`: instead of the schedule's.
  void step(std::optional<double> rate = {});
  /// Closes the epoch: its line goes to the history.
  void finish_epoch(double validation_loss, double validation_accuracy);

 private:
  struct Worker;

  void merge_adapters(std::span<const float> numbers);
  gradient::NetworkView<float> merged_view_of(std::span<const float> numbers);
  gradient::NetworkView<float> view_of(std::span<const float> numbers,
                                       std::span<float> gradients = {}) const;
  std::vector<Group> low_rank_groups() const;
  size_t first_of(size_t step) const;
  void order_images();
  void balance_order();
  void weigh_classes(size_t first, size_t count, MatrixView dlogits) const;
  void check(const std::string& where, const State& state) const;
  std::vector<Draw> batch_draws();
  void draw_paths(std::span<const Draw> draws, Matrix& paths) const;
  void keep_some(std::span<const Draw> draws, Worker& worker, gradient::Batch<float>& batch) const;
  LossSum run_shard(size_t shard, size_t worker);
  void reduce_gradients();
  void update(const LossSum& sum, double rate);

  Random random_for(std::uint64_t stream, const Draw& draw) const;

  Settings settings_;
  const data::Dataset& dataset_;
  ThreadPool& pool_;
  gradient::Network<float> network_;  // without numbers, which the state owns; frozen ones here
  gradient::LowRankLayout low_rank_;
  std::vector<float> merged_;  // adapters and what is frozen
  size_t learning_;
  std::vector<float> class_weights_;
  std::vector<Group> groups_;
  Schedule schedule_;
  BatchMaker maker_;
  State state_;
  size_t steps_per_epoch_ = 0;
  std::vector<std::vector<float>> shards_;  // gradients, in the order of the layout
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Draw> order_;  // of the images in the current epoch
  std::uint64_t ordered_epoch_ = ~std::uint64_t{0};
  std::vector<Draw> draws_;  // of the current batch
};

}  // namespace vit::train
