/// AdamW with decoupled weight decay, optionally Muon for matrices; layer-wise rates, clipping, a
/// schedule, and a running average of the weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vit/base/enum_names.h"
#include "vit/base/thread_pool.h"
#include "vit/gradient/layout.h"
#include "vit/kernels/gemm.h"

namespace vit::train {

using std::size_t;

/// How one tensor learns.
struct Group {
  size_t offset = 0;
  size_t size = 0;
  double rate = 1.0;   ///< factor on the learning rate
  bool decays = true;  ///< false: biases, norms, scales, positions and tokens
  size_t rows = 0;     ///< not 0: a matrix with an orthogonal update (muon.h)
  size_t cols = 0;
};

/// The numbers of the enumerators are part of the fingerprints of runs.
enum class OptimizerKind {
  kAdamW,
  kMuon,  ///< for the matrices of the blocks, AdamW for all else
};
constexpr auto enum_names(OptimizerKind) {
  using enum OptimizerKind;
  return std::to_array<EnumName<OptimizerKind>>({{kAdamW, "adamw"}, {kMuon, "muon"}});
}

/// `layer_decay` below 1 slows down the layers by their distance from the head (BEiT).
std::vector<Group> make_groups(const gradient::Layout& layout, const ModelConfig& config,
                               double layer_decay, OptimizerKind optimizer = OptimizerKind::kAdamW);

struct AdamW {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.05;
};

/// First and second moments, in the order of the layout.
struct Moments {
  std::vector<float> first;
  std::vector<float> second;
  std::uint64_t steps = 0;

  explicit Moments(size_t size) : first(size), second(size) {}
};

/// What one update works on.
struct Update {
  std::span<const float> gradient;
  double gradient_scale = 1.0;  ///< clipping
  double rate = 1e-3;
  Operands operands = Operands::kF32;  ///< of the products of Muon
};

/// numbers -= rate · (m̂ / (sqrt(v̂) + eps) + decay · numbers). Every number by itself, so the
/// workers change nothing.
void step(const AdamW& adam, std::span<const Group> groups, const Update& update, Moments& moments,
          std::span<float> numbers, ThreadPool* pool);

/// The Euclidean norm, summed in double in an order that does not depend on the workers.
double norm_of(std::span<const float> gradient, ThreadPool* pool = nullptr);

/// 1, or what brings a gradient of this norm down to `limit` (0: no limit).
double clip_factor(double norm, double limit);

/// average = decay · average + (1 - decay) · numbers; young averages forget faster.
void average_in(std::span<const float> numbers, double decay, std::uint64_t steps,
                std::span<float> average, ThreadPool* pool = nullptr);

/// Linear warm-up from zero, then half a cosine down to `least`.
struct Schedule {
  double rate = 1e-3;
  double least = 1e-5;
  std::uint64_t warmup_steps = 0;
  std::uint64_t steps = 1;

  double at(std::uint64_t step) const;
};

}  // namespace vit::train
