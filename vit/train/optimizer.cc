#include "vit/train/optimizer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "vit/train/muon.h"

namespace vit::train {
namespace {

/// Numbers per task of the pool: large enough to be worth a wake-up.
constexpr size_t kChunk = size_t{1} << 16;

template <typename T>
std::span<T> chunk_of(std::span<T> numbers, size_t i) {
  const size_t first = i * kChunk;
  return numbers.subspan(first, std::min(kChunk, numbers.size() - first));
}

/// 0: the embedding, 1: the first block, …, depth + 1: what follows the blocks.
size_t layer_of(const weights::TensorSpec& spec, size_t depth) {
  if (spec.layer) return *spec.layer + 1;
  return spec.part == weights::TensorPart::kEmbedding ? 0 : depth + 1;
}

/// Queries, keys and values lie in one slot, but are matrices of their own.
std::vector<Group> matrices_of(const gradient::Slot& slot, Group group) {
  const size_t parts = slot.spec.stacked;
  group.size /= parts;
  group.rows = slot.rows / parts;
  group.cols = slot.cols;
  std::vector<Group> groups(parts, group);
  for (size_t i = 0; i < parts; ++i) groups[i].offset += i * group.size;
  return groups;
}

/// The factors that turn the moments into unbiased ones.
struct Corrections {
  double first;
  double second;

  Corrections(const AdamW& adam, std::uint64_t steps)
      : first(1.0 / (1.0 - std::pow(adam.beta1, static_cast<double>(steps)))),
        second(1.0 / (1.0 - std::pow(adam.beta2, static_cast<double>(steps)))) {}
};

struct Piece {
  const Group* group;
  size_t first;
  size_t count;
};

std::vector<Piece> cut(std::span<const Group> groups) {
  std::vector<Piece> pieces;
  for (const Group& group : groups) {
    if (group.rows > 0)
      pieces.push_back({&group, group.offset, group.size});
    else
      for (size_t at = 0; at < group.size; at += kChunk)
        pieces.push_back({&group, group.offset + at, std::min(kChunk, group.size - at)});
  }
  return pieces;
}

void step_piece(const AdamW& adam, const Piece& piece, const Update& update, Moments& moments,
                std::span<float> numbers) {
  const Corrections corrections(adam, moments.steps);
  const double rate = update.rate * piece.group->rate;
  const auto b1 = static_cast<float>(adam.beta1), b2 = static_cast<float>(adam.beta2);
  const auto scale = static_cast<float>(update.gradient_scale);
  const auto eps = static_cast<float>(adam.eps);
  const auto pull = static_cast<float>(rate * corrections.first);
  const auto spread = static_cast<float>(corrections.second);
  const auto keep =
      static_cast<float>(1.0 - (piece.group->decays ? rate * adam.weight_decay : 0.0));
  const float* gradient = update.gradient.data() + piece.first;
  float* m = moments.first.data() + piece.first;
  float* v = moments.second.data() + piece.first;
  float* x = numbers.data() + piece.first;
#pragma omp simd
  for (size_t i = 0; i < piece.count; ++i) {
    const float g = gradient[i] * scale;
    m[i] = b1 * m[i] + (1.0f - b1) * g;
    v[i] = b2 * v[i] + (1.0f - b2) * g * g;
    x[i] = keep * x[i] - pull * m[i] / (std::sqrt(v[i] * spread) + eps);
  }
}

}  // namespace

std::vector<Group> make_groups(const gradient::Layout& layout, const ModelConfig& config,
                               double layer_decay, OptimizerKind optimizer) {
  std::vector<Group> groups;
  for (const gradient::Slot& slot : layout.slots()) {
    const size_t distance = config.encoder.depth + 1 - layer_of(slot.spec, config.encoder.depth);
    Group group{.offset = slot.offset,
                .size = slot.size(),
                .rate = std::pow(layer_decay, static_cast<double>(distance)),
                .decays = slot.spec.role == weights::TensorRole::kKernel};
    if (optimizer == OptimizerKind::kMuon && group.decays && slot.spec.layer)
      for (Group& part : matrices_of(slot, group)) groups.push_back(part);
    else
      groups.push_back(group);
  }
  return groups;
}

void step(const AdamW& adam, std::span<const Group> groups, const Update& update, Moments& moments,
          std::span<float> numbers, ThreadPool* pool) {
  assert(update.gradient.size() == numbers.size() && moments.first.size() == numbers.size());
  ++moments.steps;
  const std::vector<Piece> pieces = cut(groups);
  parallel_for(pool, pieces.size(), [&](size_t i, size_t) {
    const Piece& piece = pieces[i];
    if (piece.group->rows > 0)
      muon_step({.weight_decay = adam.weight_decay, .operands = update.operands}, *piece.group,
                update, moments, numbers);
    else
      step_piece(adam, piece, update, moments, numbers);
  });
}

double norm_of(std::span<const float> gradient, ThreadPool* pool) {
  std::vector<double> sums((gradient.size() + kChunk - 1) / kChunk);
  parallel_for(pool, sums.size(), [&](size_t i, size_t) {
    const auto chunk = chunk_of(gradient, i);
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (size_t k = 0; k < chunk.size(); ++k) sum += double{chunk[k]} * double{chunk[k]};
    sums[i] = sum;
  });
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

double clip_factor(double norm, double limit) {
  return limit > 0.0 && norm > limit ? limit / norm : 1.0;
}

void average_in(std::span<const float> numbers, double decay, std::uint64_t steps,
                std::span<float> average, ThreadPool* pool) {
  assert(numbers.size() == average.size());
  const auto count = static_cast<double>(steps);
  const auto keep = static_cast<float>(std::min(decay, (1.0 + count) / (10.0 + count)));
  parallel_for(pool, (numbers.size() + kChunk - 1) / kChunk, [&](size_t i, size_t) {
    const auto from = chunk_of(numbers, i);
    const auto to = chunk_of(average, i);
    for (size_t k = 0; k < to.size(); ++k) to[k] += (1.0f - keep) * (from[k] - to[k]);
  });
}

double Schedule::at(std::uint64_t step) const {
  if (step < warmup_steps)
    return rate * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  const std::uint64_t length = std::max<std::uint64_t>(1, steps - std::min(steps, warmup_steps));
  const double done =
      std::min(1.0, static_cast<double>(step - warmup_steps) / static_cast<double>(length));
  return least + 0.5 * (rate - least) * (1.0 + std::cos(std::numbers::pi * done));
}

}  // namespace vit::train
