#include "vit/train/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "vit/base/error.h"

namespace vit::train {
namespace {

constexpr std::uint64_t kOrderStream = 3;
constexpr std::uint64_t kPathStream = 4;
constexpr std::uint64_t kKeepStream = 5;

/// Shards share the work of a batch: fixed, so that sums do not depend on the number of workers.
/// Large models have fewer: each shard holds a gradient of its own.
size_t shard_count(size_t parameters, size_t batch) {
  constexpr size_t kLarge = 20'000'000;
  return std::min<size_t>(parameters > kLarge ? 2 : 8, batch);
}

/// [2·depth, images] factors: 0 where an update is skipped, else what keeps its mean.
void draw_paths(const Settings& settings, const ModelConfig& config, std::uint64_t epoch,
                std::span<const size_t> indices, Matrix& paths) {
  paths = Matrix(2 * config.encoder.depth, indices.size());
  const auto last = static_cast<double>(std::max<size_t>(1, config.encoder.depth - 1));
  for (size_t b = 0; b < indices.size(); ++b) {
    Random random({settings.batches.seed, kPathStream, epoch, indices[b]});
    for (size_t r = 0; r < paths.rows(); ++r) {
      const double drop = settings.drop_path * static_cast<double>(r / 2) / last;
      paths(r, b) = random.chance(drop) ? 0.0f : static_cast<float>(1.0 / (1.0 - drop));
    }
  }
}

bool all_finite(const State& s) {
  const auto finite = [](const auto& values) {
    return std::ranges::all_of(values, [](auto value) { return std::isfinite(value); });
  };
  return finite(s.numbers) && finite(s.average) && finite(s.moments.first) &&
         finite(s.moments.second) && finite(std::array{s.sum.loss, s.seconds}) &&
         std::ranges::all_of(s.history, [&](const EpochRow& row) {
           return finite(std::array{row.train_loss, row.train_accuracy, row.validation_loss,
                                    row.validation_accuracy, row.rate, row.seconds});
         });
}

}  // namespace

/// What one worker computes with.
struct Trainer::Worker {
  gradient::Trace<float> trace;
  std::vector<size_t> kept;
  Matrix patches;
  Matrix dlogits;
  Matrix paths;
};

Trainer::Trainer(gradient::Network<float> network, const data::Dataset& dataset,
                 const Settings& settings, ThreadPool& pool)
    : settings_(settings),
      dataset_(dataset),
      pool_(pool),
      network_(std::move(network)),
      groups_(
          make_groups(network_.layout, network_.config, settings.layer_decay, settings.optimizer)),
      maker_(dataset, network_.config, settings_.batches),
      state_(network_.layout.size()) {
  if (network_.config.head.classes != dataset.labels.size())
    fail("the model has ", network_.config.head.classes, " classes, the data ",
         dataset.labels.size());
  settings_.batch = std::min(settings_.batch, dataset.train.size());
  steps_per_epoch_ = dataset.train.size() / settings_.batch;
  schedule_ = {.rate = settings.rate,
               .least = std::min(settings.least_rate, settings.rate),
               .warmup_steps = static_cast<std::uint64_t>(settings.warmup_epochs *
                                                          static_cast<double>(steps_per_epoch_)),
               .steps = settings.epochs * steps_per_epoch_};
  shards_.resize(shard_count(network_.layout.size(), settings_.batch));
  for (auto& shard : shards_) shard.resize(network_.layout.size());
  for (size_t i = 0; i < pool.size(); ++i) workers_.push_back(std::make_unique<Worker>());
  state_.numbers = std::move(network_.numbers);
  if (settings.average > 0.0) state_.average = state_.numbers;
}

Trainer::~Trainer() = default;

/// A checkpoint is a file: each of its sizes and indices may be anything.
void Trainer::check(const std::string& where, const State& s) const {
  const std::uint64_t parameters = network_.layout.size(), history = s.history.size();
  const bool finished = s.epoch >= settings_.epochs;
  const struct {
    const char* what;
    std::uint64_t got, least, most;
  } fields[]{
      {"number of parameters", s.numbers.size(), parameters, parameters},
      {"number of averages", s.average.size(), state_.average.size(), state_.average.size()},
      {"number of first moments", s.moments.first.size(), parameters, parameters},
      {"number of second moments", s.moments.second.size(), parameters, parameters},
      {"epoch", s.epoch, 0, settings_.epochs},
      {"step", s.step, 0, finished ? 0 : steps_per_epoch_},
      {"number of updates", s.moments.steps, s.epoch * steps_per_epoch_ + s.step,
       s.epoch * steps_per_epoch_ + s.step},
      {"number of images seen", s.seen, s.step * settings_.batch, s.step * settings_.batch},
      {"number of right answers", s.sum.correct, 0, s.seen},
      {"number of log rows", history, s.epoch, s.epoch},
      // The weights after an epoch have a row of their own to be compared with.
      {"first compared epoch", s.first_compared, 0, history - (s.step == 0 && history > 0 ? 1 : 0)},
  };
  for (const auto& field : fields)
    if (field.got < field.least || field.got > field.most)
      fail(where, ": damaged, its ", field.what, " is ", field.got, ", expected ", field.least,
           field.least == field.most ? "" : " to " + std::to_string(field.most));
  if (!all_finite(s)) fail(where, ": damaged, it holds a number that is NaN or infinite");
}

void Trainer::restore(const std::filesystem::path& checkpoint) {
  State state = load_state(checkpoint, state_.fingerprint);
  check(checkpoint.string(), state);
  state_ = std::move(state);
}

double Trainer::rate() const {
  return schedule_.at(state_.epoch * steps_per_epoch_ + state_.step);
}

std::vector<size_t> Trainer::batch_indices() {
  if (ordered_epoch_ != state_.epoch) {
    order_.resize(dataset_.train.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    Random random({settings_.batches.seed, kOrderStream, state_.epoch});
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
    ordered_epoch_ = state_.epoch;
  }
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(state_.step * settings_.batch);
  return {first, first + static_cast<std::ptrdiff_t>(settings_.batch)};
}

/// Of each image, in the current epoch.
size_t Trainer::patches_seen() const {
  const size_t grid = network_.config.embedding.grid().count();
  if (settings_.keep_patches >= 1.0 || state_.epoch + settings_.whole_epochs >= settings_.epochs)
    return grid;
  return std::max<size_t>(
      1, static_cast<size_t>(std::lround(settings_.keep_patches * static_cast<double>(grid))));
}

/// Replaces the patches of a batch by some of them.
void Trainer::keep_some(std::span<const size_t> indices, Worker& w,
                        gradient::Batch<float>& batch) const {
  const size_t grid = network_.config.embedding.grid().count(), count = patches_seen();
  w.kept.resize(batch.images * count);
  if (w.patches.rows() != w.kept.size()) w.patches = Matrix(w.kept.size(), batch.patches.cols);
  std::vector<size_t> order(grid);
  for (size_t b = 0; b < batch.images; ++b) {
    std::iota(order.begin(), order.end(), size_t{0});
    Random random({settings_.batches.seed, kKeepStream, state_.epoch, indices[b]});
    for (size_t i = 0; i < count; ++i) {
      std::swap(order[i], order[i + random.below(grid - i)]);
      w.kept[b * count + i] = order[i];
      std::copy_n(batch.patches.row(b * grid + order[i]), batch.patches.cols,
                  w.patches.view().row(b * count + i));
    }
  }
  batch.patches = w.patches;
  batch.kept = w.kept;
}

LossSum Trainer::run_shard(size_t shard, size_t worker) {
  Worker& w = *workers_[worker];
  const size_t images = maker_.images();
  const size_t begin = shard * images / shards_.size(), end = (shard + 1) * images / shards_.size();
  const bool drops_patches = patches_seen() < network_.config.embedding.grid().count();
  const size_t together =
      images_at_once(network_.config.embedding.prefix.size() + patches_seen(), settings_.operands);
  std::fill(shards_[shard].begin(), shards_[shard].end(), 0.0f);
  LossSum sum;
  for (size_t first = begin; first < end; first += together) {
    const size_t count = std::min(together, end - first);
    gradient::Batch<float> batch{.patches = maker_.patches(first, count), .images = count};
    if (drops_patches) keep_some(std::span(indices_).subspan(first, count), w, batch);
    if (settings_.drop_path > 0.0) {
      draw_paths(settings_, network_.config, state_.epoch,
                 std::span(indices_).subspan(first, count), w.paths);
      batch.paths = w.paths;
    }
    const ConstMatrixView logits = gradient::forward<float>(network(), batch, w.trace);
    if (w.dlogits.rows() != count) w.dlogits = Matrix(count, logits.cols);
    sum += cross_entropy(logits, maker_.targets(first, count), 1.0 / static_cast<double>(images),
                         w.dlogits);
    gradient::backward<float>(network(), w.trace, w.dlogits, {.parameters = shards_[shard]});
  }
  return sum;
}

/// Into the first shard, each number in the order of the shards.
void Trainer::reduce_gradients() {
  constexpr size_t kChunk = size_t{1} << 15;
  const size_t size = network_.layout.size();
  parallel_for(&pool_, (size + kChunk - 1) / kChunk, [&](size_t i, size_t) {
    const size_t begin = i * kChunk, end = std::min(size, begin + kChunk);
    float* sum = shards_[0].data();
    for (size_t s = 1; s < shards_.size(); ++s) {
      const float* shard = shards_[s].data();
      for (size_t k = begin; k < end; ++k) sum[k] += shard[k];
    }
  });
}

void Trainer::update(const LossSum& sum) {
  const double norm = norm_of(shards_[0], &pool_);
  if (!std::isfinite(sum.loss) || !std::isfinite(norm))
    fail("epoch ", state_.epoch + 1, ", step ", state_.step + 1, ": the ",
         std::isfinite(sum.loss) ? "gradient" : "loss",
         " became NaN or infinite; restart with a lower learning rate (now at most ",
         settings_.rate, ")");
  train::step(
      settings_.adam, groups_,
      {.gradient = shards_[0], .gradient_scale = clip_factor(norm, settings_.clip), .rate = rate()},
      state_.moments, state_.numbers, &pool_);
  if (!state_.average.empty())
    average_in(state_.numbers, settings_.average, state_.moments.steps, state_.average, &pool_);
}

void Trainer::step() {
  const auto start = std::chrono::steady_clock::now();
  indices_ = batch_indices();
  maker_.make(indices_, state_.epoch, &pool_);
  std::vector<LossSum> sums(shards_.size());
  parallel_for(&pool_, shards_.size(),
               [&](size_t shard, size_t worker) { sums[shard] = run_shard(shard, worker); });
  LossSum sum;
  for (const LossSum& part : sums) sum += part;
  reduce_gradients();
  update(sum);
  state_.sum += sum;
  state_.seen += indices_.size();
  ++state_.step;
  state_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Trainer::finish_epoch(double validation_loss, double validation_accuracy) {
  const auto seen = static_cast<double>(std::max<std::uint64_t>(1, state_.seen));
  state_.history.push_back({.epoch = state_.epoch + 1,
                            .train_loss = state_.sum.loss / seen,
                            .train_accuracy = static_cast<double>(state_.sum.correct) / seen,
                            .validation_loss = validation_loss,
                            .validation_accuracy = validation_accuracy,
                            .rate = rate(),
                            .seconds = state_.seconds});
  ++state_.epoch;
  state_.step = 0;
  state_.sum = {};
  state_.seen = 0;
  state_.seconds = 0.0;
}

}  // namespace vit::train
