#include "tools/eval/metrics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace vit::tools {
namespace {

constexpr double kUnits = 4294967296.0;  // of a confidence in 1: sums of 4 billion images fit

double ratio(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// Bins are open below and closed above, so that a certain answer falls into the last.
size_t bin_of(double confidence) {
  const double place = std::ceil(confidence * Tally::kBins) - 1.0;
  return static_cast<size_t>(std::clamp(place, 0.0, Tally::kBins - 1.0));
}

}  // namespace

Answer judge(std::span<const float> probabilities, size_t truth) {
  assert(truth < probabilities.size());
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  const float own = probabilities[truth];
  Answer answer{.truth = truth,
                .predicted = static_cast<size_t>(best - probabilities.begin()),
                .rank = 0,
                .confidence = double{*best},
                .truth_probability = double{own}};
  for (size_t i = 0; i < probabilities.size(); ++i)
    if (probabilities[i] > own || (probabilities[i] == own && i < truth)) ++answer.rank;
  return answer;
}

std::optional<double> ClassScore::precision() const {
  if (predicted == 0) return std::nullopt;
  return ratio(right, predicted);
}

std::optional<double> ClassScore::recall() const {
  if (images == 0) return std::nullopt;
  return ratio(right, images);
}

std::optional<double> ClassScore::f1() const {
  if (images + predicted == 0) return std::nullopt;
  return ratio(2 * right, images + predicted);
}

double ConfidenceBin::mean_confidence() const {
  return images == 0 ? 0.0 : static_cast<double>(confidence) / kUnits / static_cast<double>(images);
}

double ConfidenceBin::accuracy() const {
  return images == 0 ? 0.0 : ratio(right, images);
}

Tally::Tally(size_t classes, std::optional<double> abstain_below) : classes_(classes) {
  for (const double least : {0.5, 0.7, 0.8, 0.9, 0.95, 0.99}) levels_.push_back({.least = least});
  if (!abstain_below) return;
  const auto at = std::ranges::lower_bound(levels_, *abstain_below, {}, &ConfidenceLevel::least);
  if (at == levels_.end() || at->least != *abstain_below)
    levels_.insert(at, {.least = *abstain_below});
}

void Tally::add(const Answer& answer) {
  const std::uint64_t right = answer.right() ? 1 : 0;
  images_ += 1;
  right_ += right;
  in_top5_ += answer.rank < 5 ? 1 : 0;
  classes_.at(answer.truth).images += 1;
  classes_.at(answer.truth).right += right;
  classes_.at(answer.predicted).predicted += 1;
  ConfidenceBin& bin = bins_[bin_of(answer.confidence)];
  bin.images += 1;
  bin.right += right;
  bin.confidence += static_cast<std::uint64_t>(std::llround(answer.confidence * kUnits));
  for (ConfidenceLevel& level : levels_) {
    if (answer.confidence < level.least) break;
    level.images += 1;
    level.right += right;
  }
  ++pairs_[{answer.truth, answer.predicted}];
}

double Tally::share(std::uint64_t count) const {
  return images_ == 0 ? 0.0 : ratio(count, images_);
}

size_t Tally::classes_with_images() const {
  return static_cast<size_t>(
      std::ranges::count_if(classes_, [](const ClassScore& c) { return c.images != 0; }));
}

MeanScore Tally::mean() const {
  MeanScore mean;
  for (const ClassScore& score : classes_) {
    if (score.images == 0) continue;
    mean.precision += score.precision().value_or(0.0);
    mean.recall += *score.recall();
    mean.f1 += *score.f1();
  }
  const auto count = static_cast<double>(std::max<size_t>(1, classes_with_images()));
  return {mean.precision / count, mean.recall / count, mean.f1 / count};
}

double Tally::mean_confidence() const {
  std::uint64_t sum = 0;
  for (const ConfidenceBin& bin : bins_) sum += bin.confidence;
  return images_ == 0 ? 0.0 : static_cast<double>(sum) / kUnits / static_cast<double>(images_);
}

double Tally::calibration_error() const {
  double error = 0.0;
  for (const ConfidenceBin& bin : bins_)
    error += share(bin.images) * std::abs(bin.accuracy() - bin.mean_confidence());
  return error;
}

std::uint64_t Tally::confused(size_t truth, size_t predicted) const {
  const auto found = pairs_.find({truth, predicted});
  return found == pairs_.end() ? 0 : found->second;
}

std::vector<Confusion> Tally::confusions() const {
  std::vector<Confusion> all;
  for (const auto& [pair, count] : pairs_) all.push_back({pair.first, pair.second, count});
  return all;
}

std::vector<Confusion> Tally::most_confused(size_t most) const {
  std::vector<Confusion> wrong = confusions();
  std::erase_if(wrong, [](const Confusion& c) { return c.truth == c.predicted || c.images < 2; });
  std::ranges::stable_sort(wrong, std::ranges::greater{}, &Confusion::images);
  if (wrong.size() > most) wrong.resize(most);
  return wrong;
}

std::vector<size_t> Tally::occurring() const {
  std::vector<size_t> indices;
  for (size_t i = 0; i < classes_.size(); ++i)
    if (classes_[i].images + classes_[i].predicted != 0) indices.push_back(i);
  return indices;
}

}  // namespace vit::tools
