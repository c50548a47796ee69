#include "vit/train/initialize.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "patch/position.h"
#include "vit/base/random.h"

namespace vit::train {
namespace {

using gradient::Slot;
using weights::TensorPart;
using weights::TensorRole;

constexpr double kSpread = 0.02;
constexpr float kLayerScale = 0.1f;
/// Projected patches of unit pixels spread by this: what a convolution starts with elsewhere.
constexpr double kPatchSpread = 0.6;
/// How alike queries and keys start, and how strongly the values' way through the projection
/// cancels its input (the paper's figures for small ViTs).
constexpr double kLikeness = 0.7;
constexpr double kNoise = 0.4;
constexpr double kCancel = 0.4;

std::span<float> numbers_of(gradient::Network<float>& network, const Slot& slot) {
  return {network.numbers.data() + slot.offset, slot.size()};
}

void fill_normal(std::span<float> numbers, double spread, Random& random) {
  for (float& x : numbers) x = static_cast<float>(spread * random.truncated_normal());
}

double spread_of(const Slot& slot) {
  const bool patches =
      slot.spec.role == TensorRole::kKernel && slot.spec.part == TensorPart::kEmbedding;
  return patches ? kPatchSpread / std::sqrt(static_cast<double>(slot.cols)) : kSpread;
}

void initialize_plain(const Slot& slot, std::span<float> numbers, Random& random) {
  switch (slot.spec.role) {
    case TensorRole::kLayerScale:
      std::ranges::fill(numbers, kLayerScale);
      break;
    case TensorRole::kNormGain:
      std::ranges::fill(numbers, 1.0f);
      break;
    case TensorRole::kKernel:
    case TensorRole::kToken:
    case TensorRole::kPositions:
    case TensorRole::kTable:
    case TensorRole::kFrequencies:
      fill_normal(numbers, spread_of(slot), random);
      break;
    case TensorRole::kBias:
    case TensorRole::kNormBias:
    case TensorRole::kLambda:
      std::ranges::fill(numbers, 0.0f);
      break;
  }
}

/// Rows of a random orthogonal matrix, by Gram and Schmidt.
std::vector<std::vector<double>> orthogonal(size_t n, Random& random) {
  std::vector<std::vector<double>> rows(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) {
    for (double& x : rows[i]) x = random.normal();
    for (int round = 0; round < 2; ++round)  // twice is enough (Kahan)
      for (size_t j = 0; j < i; ++j) {
        double dot = 0.0;
        for (size_t c = 0; c < n; ++c) dot += rows[i][c] * rows[j][c];
        for (size_t c = 0; c < n; ++c) rows[i][c] -= dot * rows[j][c];
      }
    double norm = 0.0;
    for (const double x : rows[i]) norm += x * x;
    for (double& x : rows[i]) x /= std::sqrt(norm);
  }
  return rows;
}

/// Each head's q·k is then about likeness · (part of x·x) plus noise.
void initialize_queries_and_keys(size_t head_width, std::span<float> queries, std::span<float> keys,
                                 Random& random) {
  const double spread = 1.0 / std::sqrt(static_cast<double>(head_width));
  for (size_t i = 0; i < queries.size(); ++i) {
    const double shared = random.normal(), own = random.normal();
    queries[i] = static_cast<float>(spread * std::sqrt(kLikeness) * shared);
    keys[i] = static_cast<float>(spread * std::sqrt(kLikeness) * (shared + kNoise * own));
  }
}

/// project · values is about noise - cancel · identity.
void initialize_values(size_t width, std::span<float> values, std::span<float> project,
                       Random& random) {
  const auto q = orthogonal(width, random);
  const double spread = kNoise / std::sqrt(kCancel * static_cast<double>(width));
  for (size_t i = 0; i < width; ++i)
    for (size_t j = 0; j < width; ++j) {
      values[i * width + j] = static_cast<float>(std::sqrt(kCancel) * q[i][j]);
      project[j * width + i] =
          static_cast<float>(-std::sqrt(kCancel) * q[i][j] + spread * random.normal());
    }
}

void initialize_positions(const ModelConfig& c, std::span<float> table) {
  if (c.encoder.width % 4 != 0) return;
  // The longest wave is about the grid: on a small one, the usual 10000 would be a constant.
  const GridSize grid = c.embedding.grid();
  const double temperature = 2.0 * static_cast<double>(std::max(grid.rows, grid.cols));
  const Matrix waves = patch::sinusoidal_positions_2d(grid, c.encoder.width, temperature);
  const size_t covered = table.size() - waves.size();
  std::copy_n(waves.data(), waves.size(), table.begin() + static_cast<std::ptrdiff_t>(covered));
}

void initialize_mimetic(gradient::Network<float>& network, Random& random) {
  const ModelConfig& c = network.config;
  if (c.encoder.key_value_heads != c.encoder.heads) return;
  for (const Slot& slot : network.layout.slots()) {
    if (slot.spec.role == TensorRole::kPositions)
      initialize_positions(c, numbers_of(network, slot));
    if (slot.spec.stacked != 3) continue;  // not queries, keys and values
    const std::span<float> qkv = numbers_of(network, slot);
    const size_t each = slot.size() / slot.spec.stacked;
    initialize_queries_and_keys(c.encoder.head_width(), qkv.first(each), qkv.subspan(each, each),
                                random);
    initialize_values(
        c.encoder.width, qkv.subspan(2 * each),
        numbers_of(network, *network.layout.find(slot.spec.attention + ".proj.weight")), random);
  }
}

}  // namespace

void initialize(gradient::Network<float>& network, std::uint64_t seed, Start start) {
  Random random({seed, 0x1217});
  for (const Slot& slot : network.layout.slots())
    initialize_plain(slot, numbers_of(network, slot), random);
  if (start == Start::kMimetic) initialize_mimetic(network, random);
}

gradient::Network<float> with_new_head(const gradient::Network<float>& network, size_t classes,
                                       std::uint64_t seed) {
  ModelConfig config = network.config;
  config.head.classes = classes;
  config.head.head_bias = true;
  config.head.multi_label = false;
  gradient::Network<float> result{
      .config = config,
      .layout = gradient::Layout(
          config, [&](std::string_view name) { return network.layout.find(name) != nullptr; }),
      .numbers = {},
      .fixed_positions = network.fixed_positions};
  result.numbers.resize(result.layout.size());
  Random random({seed, 0x4ead});
  for (const Slot& slot : result.layout.slots()) {
    const Slot* before = network.layout.find(slot.name());
    const std::span<float> numbers = numbers_of(result, slot);
    if (slot.spec.part == TensorPart::kClassifier || before == nullptr)
      initialize_plain(slot, numbers, random);
    else
      std::copy_n(network.numbers.begin() + static_cast<std::ptrdiff_t>(before->offset),
                  slot.size(), numbers.begin());
  }
  return result;
}

std::vector<float> start_low_rank(const gradient::LowRankLayout& layout,
                                  const gradient::Network<float>& network, std::uint64_t seed) {
  std::vector<float> numbers(layout.size());
  Random random({seed, 0x10a4a});
  for (const gradient::LowRankSlot& slot : layout.slots()) {
    const std::span<float> own(numbers.data() + slot.offset, slot.size());
    if (slot.rank == 0)
      std::copy_n(network.numbers.begin() + static_cast<std::ptrdiff_t>(slot.full.offset),
                  own.size(), own.begin());
    else  // A; B stays zero
      fill_normal(own.first(slot.rank * slot.full.cols),
                  1.0 / std::sqrt(static_cast<double>(slot.full.cols)), random);
  }
  return numbers;
}

}  // namespace vit::train
