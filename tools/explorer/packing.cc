#include "tools/explorer/packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tools/output/deflate.h"

namespace vit::tools {
namespace {

using interpret::AttentionMaps;

constexpr size_t kClasses = 9;  // of guesses from 0 to 255: their number of bits

template <typename Number>
void append(std::string& bytes, Number number) {  // little-endian, as all machines we run on
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  bytes.append(raw, sizeof number);
}

/// What the first map of a row is scaled to: a few outliers must not take the steps from the other
/// patches. Larger only where the largest patch would have no step.
float unit_of(std::span<const float> patches, std::vector<float>& scratch) {
  constexpr double kPercentile = 0.995;  // the page's own choice of the last colour
  constexpr float kRoom = 255.0f / kRootSteps;
  scratch.assign(patches.begin(), patches.end());
  const auto high = scratch.begin() + static_cast<std::ptrdiff_t>(
                                          kPercentile * static_cast<double>(scratch.size() - 1));
  std::nth_element(scratch.begin(), high, scratch.end());
  const float largest = *std::max_element(high, scratch.end());
  return std::max({*high, largest / (kRoom * kRoom), 0.0f});
}

std::uint16_t upper_half(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

/// The next number above with nothing in its lower half: no step exceeds a byte.
float rounded_up(float value) {
  if (value <= 0.0f) return 0.0f;
  return std::bit_cast<float>((std::uint32_t{upper_half(value)} + 1) << 16);
}

std::uint16_t prefix_root(float weight) {
  const float steps = std::sqrt(std::max(weight, 0.0f)) * kPrefixSteps + 0.5f;
  return static_cast<std::uint16_t>(std::min(steps, 65535.0f));
}

/// A row of steps after as many zeros as the grid has columns: the first patches have neighbours.
using Row = std::vector<int>;

/// Adds the steps of another row as they would be with this row's unit. In whole numbers, so that
/// C++ and JavaScript agree to the last bit.
void add_rescaled(std::span<const std::uint8_t> steps, float unit, float new_unit, Row& row) {
  constexpr double kMost = 65535.0;
  const double ratio =
      new_unit > 0.0f ? static_cast<double>(unit) / static_cast<double>(new_unit) : 0.0;
  const int factor = static_cast<int>(std::min(256.0 * std::sqrt(ratio) + 0.5, kMost));
  const size_t before = row.size() - steps.size();
  for (size_t i = 0; i < steps.size(); ++i) row[before + i] += (factor * steps[i] + 128) >> 8;
}

/// A guess of `row[at]`: the mean of what the queries to the left and above gave to it, whose sum
/// is in `near`, and a sixth of how much more than they this one gave to its neighbours.
int predicted(const Row& row, const Row& near, size_t at, size_t cols) {
  const size_t left = at - 1, above = at - cols;
  const int more = 2 * (row[left] + row[above]) - near[left] - near[above];
  return std::clamp((near[at] + ((85 * more) >> 8) + 1) >> 1, 0, 255);
}

class Packer {
 public:
  explicit Packer(const AttentionMaps& maps)
      : weights_(maps.weights.view()),
        prefix_(maps.layout.first_patch()),
        cols_(maps.layout.grid.cols),
        patches_(maps.layout.grid.count()),
        tokens_(prefix_ + patches_),
        units_(weights_.rows),
        steps_(weights_.rows * patches_) {}

  std::string packed() && {
    for (size_t r = 0; r < weights_.rows; ++r) quantize(r);
    for (size_t r = 0; r < weights_.rows; ++r) add_residuals(r);
    std::string bytes;
    for (const auto& residuals : residuals_)
      append(bytes, static_cast<std::uint32_t>(residuals.size()));
    for (const float unit : units_) append(bytes, upper_half(unit));
    for (size_t r = 0; r < weights_.rows; ++r)
      for (size_t i = 0; i < prefix_; ++i) append(bytes, prefix_root(weights_(r, i)));
    for (const auto& residuals : residuals_) bytes += residuals;
    // Residuals repeat by chance only: a search for repetitions takes nine times as long and makes
    // the result larger.
    return deflated(bytes, {.level = 1, .only_letters = true});
  }

 private:
  std::span<std::uint8_t> steps(size_t r) { return {&steps_[r * patches_], patches_}; }

  void quantize(size_t r) {
    const auto row = weights_.row_span(r).subspan(prefix_);
    const float unit = rounded_up(unit_of(row, scratch_));
    const float factor = unit > 0.0f ? kRootSteps / std::sqrt(unit) : 0.0f;
    units_[r] = unit;
    std::ranges::transform(row, steps(r).begin(), [&](float weight) {
      // Differential attention may be negative: shown as 0.
      return static_cast<std::uint8_t>(
          std::min(std::sqrt(std::max(weight, 0.0f)) * factor + 0.5f, 255.0f));
    });
  }

  void add_residuals(size_t r) {
    const size_t query = r % tokens_;
    std::ranges::fill(near_, 0);
    if (query > prefix_) {
      const size_t left = r - 1, above = query < prefix_ + cols_ ? left : r - cols_;
      for (const size_t other : {left, above})
        add_rescaled(steps(other), units_[other], units_[r], near_);
    }
    std::ranges::copy(steps(r), row_.begin() + static_cast<std::ptrdiff_t>(cols_));
    for (size_t at = cols_; at < row_.size(); ++at) {
      const int guess = predicted(row_, near_, at, cols_);
      residuals_[std::bit_width(static_cast<unsigned>(guess))] +=
          static_cast<char>(row_[at] - guess);
    }
  }

  ConstMatrixView weights_;
  size_t prefix_, cols_, patches_, tokens_;
  std::vector<float> units_;
  std::vector<std::uint8_t> steps_;
  std::array<std::string, kClasses> residuals_;
  std::vector<float> scratch_;
  Row row_ = Row(cols_ + patches_), near_ = row_;
};

}  // namespace

std::string plain_attention(const AttentionMaps& maps) {
  const ConstMatrixView weights = maps.weights.view();
  std::string bytes(weights.rows * (sizeof(float) + weights.cols), '\0');
  char* scaled = bytes.data() + weights.rows * sizeof(float);
  for (size_t r = 0; r < weights.rows; ++r) {
    const auto row = weights.row_span(r);
    const float largest = std::max(*std::max_element(row.begin(), row.end()), 0.0f);
    std::memcpy(bytes.data() + r * sizeof(float), &largest, sizeof(float));
    const float factor = largest > 0.0f ? 255.0f / std::sqrt(largest) : 0.0f;
    for (const float weight : row)  // differential attention may be negative: shown as 0
      *scaled++ = static_cast<char>(std::lround(std::sqrt(std::max(weight, 0.0f)) * factor));
  }
  return bytes;
}

std::string packed_attention(const AttentionMaps& maps) {
  return Packer(maps).packed();
}

}  // namespace vit::tools
