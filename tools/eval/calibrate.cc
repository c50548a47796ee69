#include "tools/eval/calibrate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "tools/output/format.h"
#include "weights/save.h"
#include "weights/tensor_list.h"

namespace vit::tools {
namespace {

double log_temperature_at(double point) {
  const double share = point / static_cast<double>(TemperatureFit::kPoints - 1);
  return std::lerp(std::log(TemperatureFit::kLowest), std::log(TemperatureFit::kHighest), share);
}

}  // namespace

std::vector<double> TemperatureFit::losses(std::span<const float> logits, size_t truth) {
  assert(truth < logits.size());
  const double largest = *std::ranges::max_element(logits);
  std::vector<double> losses(kPoints);
  for (size_t i = 0; i < kPoints; ++i) {
    const double inverse = std::exp(-log_temperature_at(static_cast<double>(i)));
    double sum = 0.0;
    for (const float logit : logits) sum += std::exp((logit - largest) * inverse);
    losses[i] = std::log(sum) - (logits[truth] - largest) * inverse;
  }
  return losses;
}

void TemperatureFit::add(std::span<const double> losses) {
  for (size_t i = 0; i < kPoints; ++i) sums_[i] += losses[i];
}

double TemperatureFit::temperature() const {
  const auto best = static_cast<size_t>(std::ranges::min_element(sums_) - sums_.begin());
  double at = static_cast<double>(best);
  if (best > 0 && best + 1 < kPoints) {
    const double before = sums_[best - 1], here = sums_[best], after = sums_[best + 1];
    const double curvature = before - 2.0 * here + after;
    if (curvature > 0.0) at += 0.5 * (before - after) / curvature;
  }
  return std::exp(log_temperature_at(at));
}

void save_calibrated(const weights::Checkpoint& checkpoint, double temperature,
                     const std::filesystem::path& output) {
  const auto factor = static_cast<float>(1.0 / temperature);
  weights::Checkpoint calibrated = checkpoint;
  weights::for_each_tensor(checkpoint.config, [&](const weights::TensorSpec& spec) {
    if (spec.part != weights::TensorPart::kClassifier) return;
    const weights::Weight* weight = checkpoint.find(spec.name);
    if (weight == nullptr) return;
    std::vector<float> numbers = weight->numbers();
    for (float& number : numbers) number *= factor;
    calibrated.add_numbers(spec.name, weight->shape(), std::move(numbers));
  });
  calibrated.metadata["temperature"] = formatted("%.6g", temperature);
  weights::save(output, calibrated, {.dtype = weights::lossless_dtype(checkpoint)});
}

}  // namespace vit::tools
