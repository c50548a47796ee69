#include "vit/train/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "vit/base/error.h"
#include "vit/train/evaluate.h"
#include "vit/train/initialize.h"
#include "vit/train/loss.h"

namespace vit::train {
namespace {

constexpr std::uint64_t kOrderStream = 3;
constexpr std::uint64_t kPathStream = 4;
constexpr std::uint64_t kKeepStream = 5;
constexpr std::uint64_t kBalanceStream = 7;

/// Shards share the work of a batch: fixed, so that sums do not depend on the number of workers.
/// Large models have fewer: each shard holds a gradient of its own.
size_t shard_count(size_t parameters, size_t batch) {
  constexpr size_t kLarge = 20'000'000;
  return std::min<size_t>(parameters > kLarge ? 2 : 8, batch);
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

Trainer::Trainer(gradient::Network<float> network, const BatchSource& source,
                 const Settings& settings, ThreadPool& pool, std::uint64_t fingerprint)
    : settings_(settings),
      dataset_(source.dataset),
      pool_(pool),
      network_(std::move(network)),
      low_rank_(settings.low_rank == 0
                    ? gradient::LowRankLayout()
                    : gradient::LowRankLayout(network_.layout, settings.low_rank)),
      learning_(low_rank_.empty() ? network_.layout.size() : low_rank_.size()),
      groups_(low_rank_.empty() ? make_groups(network_.layout, network_.config,
                                              settings.layer_decay, settings.optimizer)
                                : low_rank_groups()),
      maker_(source, network_.config, settings_.batches),
      state_(learning_) {
  if (network_.config.head.classes != dataset_.labels.size())
    fail("the model has ", network_.config.head.classes, " classes, the data ",
         dataset_.labels.size());
  settings_.batch = std::min(settings_.batch, dataset_.train.size());
  steps_per_epoch_ =
      (dataset_.train.size() + (settings_.every_image ? settings_.batch - 1 : 0)) / settings_.batch;
  if (settings_.balance == Balance::kWeights)
    class_weights_ = balancing_weights(labels_of(dataset_.train), dataset_.labels.size());
  schedule_ = {.rate = settings.rate,
               .least = std::min(settings.least_rate, settings.rate),
               .warmup_steps = static_cast<std::uint64_t>(settings.warmup_epochs *
                                                          static_cast<double>(steps_per_epoch_)),
               .steps = settings.epochs * steps_per_epoch_};
  shards_.resize(shard_count(learning(), settings_.batch));
  for (auto& shard : shards_) shard.resize(learning());
  for (size_t i = 0; i < pool.size(); ++i) workers_.push_back(std::make_unique<Worker>());
  if (low_rank_.empty()) {
    state_.numbers = std::move(network_.numbers);
  } else {
    state_.numbers = start_low_rank(low_rank_, network_, settings.batches.seed);
    merged_ = network_.numbers;
  }
  if (settings.average > 0.0) state_.average = state_.numbers;
  state_.fingerprint = fingerprint;
}

Trainer::~Trainer() = default;

/// Into the memory that all views read.
void Trainer::merge_adapters(std::span<const float> numbers) {
  if (!low_rank_.empty())
    gradient::merge_low_rank<float>(low_rank_, numbers, network_.numbers, merged_, &pool_);
}

gradient::NetworkView<float> Trainer::merged_view_of(std::span<const float> numbers) {
  merge_adapters(numbers);
  return view_of(numbers);
}

/// Adapters are merged already. `gradients` are what the backward pass adds to.
gradient::NetworkView<float> Trainer::view_of(std::span<const float> numbers,
                                              std::span<float> gradients) const {
  if (low_rank_.empty())
    return {network_, {.numbers = numbers, .gradients = gradients, .operands = settings_.operands}};
  return {network_,
          {.numbers = merged_,
           .gradients = gradients,
           .low_rank = &low_rank_,
           .learned = numbers,
           .operands = settings_.operands}};
}

/// Adapters learn at one rate in all layers and are not pulled to zero: they start there.
std::vector<Group> Trainer::low_rank_groups() const {
  std::vector<Group> groups;
  for (const gradient::LowRankSlot& slot : low_rank_.slots())
    groups.push_back(
        {.offset = slot.offset,
         .size = slot.size(),
         .decays = slot.rank == 0 && slot.full.spec.role == weights::TensorRole::kKernel});
  return groups;
}

/// Of the epoch's images, where the batch of a step starts.
size_t Trainer::first_of(size_t step) const {
  return settings_.every_image ? step * dataset_.train.size() / steps_per_epoch_
                               : step * settings_.batch;
}

/// A checkpoint is a file: each of its sizes and indices may be anything.
void Trainer::check(const std::string& where, const State& s) const {
  const std::uint64_t parameters = learning(), history = s.history.size();
  const std::uint64_t seen = first_of(std::min<std::uint64_t>(s.step, steps_per_epoch_));
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
      {"number of images seen", s.seen, seen, seen},
      {"number of right answers", s.sum.correct, 0, s.seen},
      {"number of log rows", history, s.epoch, s.epoch},
      // The weights after an epoch have a row of their own to be compared with.
      {"first compared epoch", s.first_compared, 0, history - (s.step == 0 && history > 0 ? 1 : 0)},
  };
  for (const auto& field : fields)
    if (field.got < field.least || field.got > field.most)
      fail_at(where, "damaged, its ", field.what, " is ", field.got, ", expected ", field.least,
              field.least == field.most ? "" : " to " + std::to_string(field.most));
  if (!all_finite(s)) fail_at(where, "damaged, it holds a number that is NaN or infinite");
}

void Trainer::restore(const std::filesystem::path& checkpoint) {
  State state = load_state(checkpoint, state_.fingerprint);
  check(checkpoint.string(), state);
  state_ = std::move(state);
}

void Trainer::forget_best() {
  const bool validated = state_.step == 0 && !state_.history.empty();
  state_.first_compared = state_.history.size() - (validated ? 1 : 0);
}

double Trainer::rate() const {
  return schedule_.at(state_.epoch * steps_per_epoch_ + state_.step);
}

void Trainer::order_images() {
  order_.resize(dataset_.train.size());
  for (size_t i = 0; i < order_.size(); ++i) order_[i] = {.image = i};
  Random random({settings_.batches.seed, kOrderStream, state_.epoch});
  shuffle(random, order_);
  if (settings_.balance == Balance::kSampling) balance_order();
  ordered_epoch_ = state_.epoch;
}

/// The classes in turn, each from its own images in turn: those of a rare class come several times.
void Trainer::balance_order() {
  std::vector<std::vector<size_t>> of_class(dataset_.labels.size());
  for (const Draw& draw : order_) of_class[dataset_.train[draw.image].label].push_back(draw.image);
  Random random({settings_.batches.seed, kBalanceStream, state_.epoch});
  // Where a frequent class cannot show all its images, each epoch shows others.
  for (size_t i = 0; i < order_.size(); ++i) {
    const auto& images = of_class[i % of_class.size()];
    const size_t turn = i / of_class.size();
    order_[i] = {.image = images[turn % images.size()], .repeat = turn / images.size()};
  }
  shuffle(random, order_);
}

const std::vector<Draw>& Trainer::epoch_order() {
  if (ordered_epoch_ != state_.epoch) order_images();
  return order_;
}

std::vector<Draw> Trainer::batch_draws() {
  epoch_order();
  const size_t first = first_of(state_.step), end = first_of(state_.step + 1);
  return {order_.begin() + static_cast<std::ptrdiff_t>(first),
          order_.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// The numbers of an image in the current epoch.
Random Trainer::random_for(std::uint64_t stream, const Draw& draw) const {
  return Random({settings_.batches.seed, stream, state_.epoch, draw.key(dataset_.train.size())});
}

size_t Trainer::patches_seen() const {
  const size_t grid = network_.config.embedding.grid().count();
  if (state_.epoch + settings_.whole_epochs >= settings_.epochs) return grid;
  const size_t last = settings_.epochs - settings_.whole_epochs - 1;
  const double progress =
      last == 0 ? 1.0 : static_cast<double>(state_.epoch) / static_cast<double>(last);
  const double share = std::lerp(settings_.first_keep_patches, settings_.keep_patches, progress);
  return std::max<size_t>(1, static_cast<size_t>(std::lround(share * static_cast<double>(grid))));
}

/// [2·depth, images] factors: 0 where an update is skipped, else what keeps its mean.
void Trainer::draw_paths(std::span<const Draw> draws, Matrix& paths) const {
  const size_t depth = network_.config.encoder.depth;
  paths = Matrix(2 * depth, draws.size());
  const auto last = static_cast<double>(std::max<size_t>(1, depth - 1));
  for (size_t b = 0; b < draws.size(); ++b) {
    Random random = random_for(kPathStream, draws[b]);
    for (size_t r = 0; r < paths.rows(); ++r) {
      const double drop = settings_.drop_path * static_cast<double>(r / 2) / last;
      paths(r, b) = random.chance(drop) ? 0.0f : static_cast<float>(1.0 / (1.0 - drop));
    }
  }
}

/// Replaces the patches of a batch by some of them.
void Trainer::keep_some(std::span<const Draw> draws, Worker& w,
                        gradient::Batch<float>& batch) const {
  const size_t grid = network_.config.embedding.grid().count(), count = patches_seen();
  w.kept.resize(batch.images * count);
  if (w.patches.rows() != w.kept.size()) w.patches = Matrix(w.kept.size(), batch.patches.cols);
  std::vector<size_t> order(grid);
  for (size_t b = 0; b < batch.images; ++b) {
    std::iota(order.begin(), order.end(), size_t{0});
    Random random = random_for(kKeepStream, draws[b]);
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

/// By the classes of the targets, of which a mixture has several.
void Trainer::weigh_classes(size_t first, size_t count, MatrixView dlogits) const {
  if (class_weights_.empty()) return;
  const ConstMatrixView targets = maker_.targets(first, count);
  for (size_t r = 0; r < count; ++r) {
    float weight = 0.0f;
    for (size_t c = 0; c < class_weights_.size(); ++c) weight += targets(r, c) * class_weights_[c];
    for (float& number : dlogits.row_span(r)) number *= weight;
  }
}

LossSum Trainer::run_shard(size_t shard, size_t worker) {
  Worker& w = *workers_[worker];
  const size_t images = maker_.images();
  const size_t begin = shard * images / shards_.size(), end = (shard + 1) * images / shards_.size();
  const bool drops_patches = patches_seen() < network_.config.embedding.grid().count();
  const size_t together =
      images_at_once(network_.config.embedding.prefix.size() + patches_seen(), settings_.operands);
  std::fill(shards_[shard].begin(), shards_[shard].end(), 0.0f);
  const gradient::NetworkView<float> network = view_of(state_.numbers, shards_[shard]);
  LossSum sum;
  for (size_t first = begin; first < end; first += together) {
    const size_t count = std::min(together, end - first);
    gradient::Batch<float> batch{.patches = maker_.patches(first, count), .images = count};
    const std::span<const Draw> draws = std::span(draws_).subspan(first, count);
    if (drops_patches) keep_some(draws, w, batch);
    if (settings_.drop_path > 0.0) {
      draw_paths(draws, w.paths);
      batch.paths = w.paths;
    }
    const ConstMatrixView logits = gradient::forward<float>(network, batch, w.trace);
    if (w.dlogits.rows() != count) w.dlogits = Matrix(count, logits.cols);
    sum += cross_entropy(logits, maker_.targets(first, count), 1.0 / static_cast<double>(images),
                         w.dlogits);
    weigh_classes(first, count, w.dlogits);
    gradient::backward<float>(network, w.trace, w.dlogits);
  }
  return sum;
}

/// Into the first shard, each number in the order of the shards.
void Trainer::reduce_gradients() {
  constexpr size_t kChunk = size_t{1} << 15;
  const size_t size = learning();
  parallel_for(&pool_, (size + kChunk - 1) / kChunk, [&](size_t i, size_t) {
    const size_t begin = i * kChunk, end = std::min(size, begin + kChunk);
    float* sum = shards_[0].data();
    for (size_t s = 1; s < shards_.size(); ++s) {
      const float* shard = shards_[s].data();
      for (size_t k = begin; k < end; ++k) sum[k] += shard[k];
    }
  });
}

void Trainer::update(const LossSum& sum, double rate) {
  const double norm = norm_of(shards_[0], &pool_);
  if (!std::isfinite(sum.loss) || !std::isfinite(norm))
    fail("epoch ", state_.epoch + 1, ", step ", state_.step + 1, ": the ",
         std::isfinite(sum.loss) ? "gradient" : "loss",
         " became NaN or infinite; restart with a lower learning rate (now at most ",
         settings_.rate, ")");
  train::step(settings_.adam, groups_,
              {.gradient = shards_[0],
               .gradient_scale = clip_factor(norm, settings_.clip),
               .rate = rate,
               .operands = settings_.operands},
              state_.moments, state_.numbers, &pool_);
  if (!state_.average.empty())
    average_in(state_.numbers, settings_.average, state_.moments.steps, state_.average, &pool_);
}

void Trainer::step(std::optional<double> rate) {
  const auto start = std::chrono::steady_clock::now();
  draws_ = batch_draws();
  maker_.make(draws_, state_.epoch, &pool_);
  merge_adapters(state_.numbers);
  std::vector<LossSum> sums(shards_.size());
  parallel_for(&pool_, shards_.size(),
               [&](size_t shard, size_t worker) { sums[shard] = run_shard(shard, worker); });
  LossSum sum;
  for (const LossSum& part : sums) sum += part;
  reduce_gradients();
  update(sum, rate.value_or(this->rate()));
  state_.sum += sum;
  state_.seen += draws_.size();
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
