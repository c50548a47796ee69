/// One training run: where it is, and how it takes its next step.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vit/gradient/network.h"
#include "vit/train/batch.h"
#include "vit/train/loss.h"
#include "vit/train/optimizer.h"

namespace vit::train {

/// What makes rare classes count as much as frequent ones.
enum class Balance {
  kNone,
  kWeights,   ///< an image counts by the inverse of the size of its class
  kSampling,  ///< an epoch draws as many images, and equally many of each class
};

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

/// One line of the log.
struct EpochRow {
  std::uint64_t epoch = 0;  ///< from 1 on, when finished
  double train_loss = 0.0;
  double train_accuracy = 0.0;
  double validation_loss = 0.0;
  double validation_accuracy = 0.0;
  double rate = 0.0;
  double seconds = 0.0;
};

/// All that a run is, besides data and settings. What is written to disk and read again continues
/// as if nothing had happened.
struct State {
  std::vector<float> numbers;
  std::vector<float> average;  ///< empty: none
  Moments moments;
  std::uint64_t epoch = 0;  ///< finished ones
  std::uint64_t step = 0;   ///< finished ones of the current epoch
  LossSum sum;              ///< of the current epoch
  std::uint64_t seen = 0;   ///< images of the current epoch
  double seconds = 0.0;     ///< of the current epoch
  std::vector<EpochRow> history;
  std::uint64_t first_compared = 0;  ///< epochs before it have no model file any more
  std::uint64_t fingerprint = 0;     ///< of model, data and settings

  explicit State(size_t size) : moments(size) {}
};

/// Written beside its place, synced and renamed: a full disk or a kill leaves the earlier one.
void save_state(const std::filesystem::path& path, const State& state);
/// Throws an Error if the file is damaged or belongs to a run with other settings. The sizes and
/// indices in it are the file's: Trainer::restore() checks that they fit.
State load_state(const std::filesystem::path& path, std::uint64_t fingerprint);

/// Deterministic: the same data, settings and seed give the same weights, whatever the number of
/// workers. A batch is cut into a fixed number of shards whose gradients are summed in order.
class Trainer {
 public:
  Trainer(gradient::Network<float> network, const data::Dataset& dataset, const Settings& settings,
          ThreadPool& pool);
  ~Trainer();

  /// With adapters, network() and averaged() share memory: the last call decides whose weights it
  /// holds.
  gradient::NetworkView<float> network() const { return view_of(state_.numbers); }
  /// With the averaged weights, where there are any: what is evaluated and kept.
  gradient::NetworkView<float> averaged() const {
    return view_of(state_.average.empty() ? state_.numbers : state_.average);
  }
  /// How many numbers learn.
  size_t learning() const { return learning_; }

  const State& state() const { return state_; }
  State& state() { return state_; }
  /// Continues the run of a checkpoint. Throws an Error if any of it does not fit.
  void restore(const std::filesystem::path& checkpoint);

  size_t steps_per_epoch() const { return steps_per_epoch_; }
  size_t images_per_epoch() const { return first_of(steps_per_epoch_); }
  /// The images of the current epoch in their order, as BatchMaker::make() takes them.
  const std::vector<size_t>& epoch_order();
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

  gradient::NetworkView<float> view_of(std::span<const float> numbers) const;
  std::vector<Group> low_rank_groups() const;
  size_t first_of(size_t step) const;
  void order_images();
  void balance_order();
  void weigh_classes(size_t first, size_t count, MatrixView dlogits) const;
  void check(const std::string& where, const State& state) const;
  std::vector<size_t> batch_indices();
  void keep_some(std::span<const size_t> indices, Worker& worker,
                 gradient::Batch<float>& batch) const;
  LossSum run_shard(size_t shard, size_t worker);
  void reduce_gradients();
  void update(const LossSum& sum, double rate);

  Settings settings_;
  const data::Dataset& dataset_;
  ThreadPool& pool_;
  gradient::Network<float> network_;  // without numbers, which the state owns; frozen ones here
  gradient::LowRankLayout low_rank_;
  mutable std::vector<float> merged_;           // adapters and what is frozen
  mutable const float* merged_from_ = nullptr;  // null: changed since
  size_t learning_;
  std::vector<float> class_weights_;
  std::vector<Group> groups_;
  Schedule schedule_;
  BatchMaker maker_;
  State state_;
  size_t steps_per_epoch_ = 0;
  std::vector<std::vector<float>> shards_;  // gradients, in the order of the layout
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<size_t> order_;  // of the images in the current epoch
  std::uint64_t ordered_epoch_ = ~std::uint64_t{0};
  std::vector<size_t> indices_;  // of the current batch
};

/// Images that run through the network together: enough rows to make products efficient, few enough
/// for a layer's activations to stay in the second-level cache.
size_t images_at_once(size_t tokens, Operands operands);

/// Images and where a model's answers to them go. Both functions are called by several threads.
struct Questions {
  size_t count = 0;
  std::function<patch::Image(size_t)> image;
  std::function<void(size_t, std::span<const float>)> answer;  ///< the logits of one image
};
/// Runs a model on images as inference sees them.
void answer_questions(const gradient::NetworkView<float>& network, const Recipe& recipe,
                      const Questions& questions, ThreadPool* pool);

/// How good a model is.
struct Score {
  double loss = 0.0;
  double accuracy = 0.0;
  std::vector<size_t> predictions;  ///< one per sample
  bool stopped = false;             ///< `stop` came first: the figures are of no use
};
/// `stop` is looked at between small batches of images.
Score evaluate(const gradient::NetworkView<float>& network,
               const std::vector<data::Sample>& samples, const Recipe& recipe, ThreadPool* pool,
               const std::atomic<bool>* stop = nullptr);

}  // namespace vit::train
