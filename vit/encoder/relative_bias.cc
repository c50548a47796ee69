#include "vit/encoder/relative_bias.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace vit {
namespace {

/// Distances of stored offsets from 0: 1, 1 + q, 1 + q + q², … with the q that makes the last
/// one, of `count`, the largest new offset. As BEiT's authors and timm find it, to the bit.
std::vector<double> geometric_places(size_t count, double largest) {
  double low = 1.01, high = 1.5, q = 0.0;
  while (high - low > 1e-6) {
    q = (low + high) / 2.0;
    const double sum = (1.0 - std::pow(q, static_cast<double>(count))) / (1.0 - q);
    (sum > largest ? high : low) = q;
  }
  std::vector<double> places;
  double place = 1.0;
  for (size_t i = 0; i < count; ++i) {
    places.push_back(place);
    place += std::pow(q, static_cast<double>(i + 1));
  }
  return places;
}

/// `at` between rising `places`, clamped at the ends.
OffsetTap tap_between(const std::vector<double>& places, double at) {
  const auto above = std::upper_bound(places.begin(), places.end(), at);
  if (above == places.begin()) return {0, 0.0};
  const auto below = static_cast<size_t>(above - places.begin()) - 1;
  if (above == places.end()) return {below, 0.0};
  return {below, (at - places[below]) / (*above - places[below])};
}

std::vector<OffsetTap> geometric_taps(size_t from, size_t to) {
  const std::vector<double> distances = geometric_places(from - 1, static_cast<double>(to - 1));
  std::vector<double> places{0.0};
  for (const double distance : distances) {
    places.insert(places.begin(), -distance);
    places.push_back(distance);
  }
  std::vector<OffsetTap> taps;
  for (size_t i = 0; i < 2 * to - 1; ++i)
    taps.push_back(tap_between(places, static_cast<double>(i) - static_cast<double>(to - 1)));
  return taps;
}

/// Half-pixel centres, no antialiasing.
std::vector<OffsetTap> bilinear_taps(size_t from, size_t to) {
  const auto inputs = static_cast<double>(2 * from - 1), outputs = static_cast<double>(2 * to - 1);
  std::vector<OffsetTap> taps;
  for (size_t i = 0; i < 2 * to - 1; ++i) {
    const double at =
        std::clamp((static_cast<double>(i) + 0.5) * inputs / outputs - 0.5, 0.0, inputs - 1.0);
    taps.push_back({static_cast<size_t>(at), at - std::floor(at)});
  }
  return taps;
}

/// The offsets of a table are those from key to query, which is the reverse of OffsetBias.
void add_table(const RelativeBiasConfig& config, ConstMatrixView table, OffsetBias& to) {
  const size_t offsets = to.offsets.cols();
  for (size_t head = 0; head < table.cols; ++head) {
    for (size_t i = 0; i < offsets; ++i) to.offsets(head, offsets - 1 - i) += table(i, head);
    for (size_t i = 0; config.class_rows && i < 3; ++i)
      to.of_prefix(head, i) += table(offsets + i, head);
  }
}

void add_mlp(const RelativeBiasConfig& config, const RelativeBiasWeights& w, OffsetBias& to) {
  const Matrix coordinates = relative_coordinates(config.kind, to.grid);
  const size_t last = coordinates.rows() - 1;
  std::vector<double> hidden(w.expand.rows());
  for (size_t i = 0; i <= last; ++i) {
    const double y = coordinates(i, 0), x = coordinates(i, 1);
    for (size_t j = 0; j < hidden.size(); ++j)
      hidden[j] = std::max(
          0.0, y * double{w.expand(j, 0)} + x * double{w.expand(j, 1)} + double{w.expand_bias[j]});
    for (size_t head = 0; head < w.contract.rows(); ++head) {
      double sum = w.contract_bias.empty() ? 0.0 : double{w.contract_bias[head]};
      for (size_t j = 0; j < hidden.size(); ++j) sum += hidden[j] * double{w.contract(head, j)};
      if (config.kind == RelativeBiasKind::kSwinMlp) sum = 16.0 / (1.0 + std::exp(-sum));
      to.offsets(head, last - i) += static_cast<float>(sum);
    }
  }
}

}  // namespace

std::vector<OffsetTap> offset_taps(size_t from, size_t to, RelativeResampling resampling) {
  return resampling == RelativeResampling::kGeometric ? geometric_taps(from, to)
                                                      : bilinear_taps(from, to);
}

Matrix relative_coordinates(RelativeBiasKind kind, GridSize grid) {
  const auto coordinate = [&](size_t index, size_t size) {
    const double offset = static_cast<double>(index) - static_cast<double>(size - 1);
    if (kind == RelativeBiasKind::kLogMlp)
      return std::copysign(std::log1p(std::abs(offset)), offset);
    const double scaled = size == 1 ? 0.0 : 8.0 * offset / static_cast<double>(size - 1);
    return std::copysign(std::log2(1.0 + std::abs(scaled)) / 3.0, scaled);
  };
  const size_t rows = 2 * grid.rows - 1, cols = 2 * grid.cols - 1;
  Matrix coordinates(rows * cols, 2);
  for (size_t i = 0; i < coordinates.rows(); ++i) {
    coordinates(i, 0) = static_cast<float>(coordinate(i / cols, grid.rows));
    coordinates(i, 1) = static_cast<float>(coordinate(i % cols, grid.cols));
  }
  return coordinates;
}

void add_relative_bias(const RelativeBiasConfig& config, const RelativeBiasWeights& weights,
                       OffsetBias& to) {
  const bool table = config.kind == RelativeBiasKind::kTable;
  const size_t heads = table ? weights.table.cols() : weights.contract.rows();
  if (to.offsets.empty()) {
    to.offsets = Matrix(heads, (2 * to.grid.rows - 1) * (2 * to.grid.cols - 1));
    to.of_prefix = Matrix(heads, 3);
  }
  assert(to.offsets.rows() == heads);
  if (table)
    add_table(config, resample_bias_table(config, weights.table, to.grid), to);
  else
    add_mlp(config, weights, to);
}

Matrix resample_bias_table(const RelativeBiasConfig& config, ConstMatrixView table, GridSize to) {
  if (config.grid == to) return copy_of(table);
  const std::vector<OffsetTap> down = offset_taps(config.grid.rows, to.rows, config.resampling);
  const std::vector<OffsetTap> across = offset_taps(config.grid.cols, to.cols, config.resampling);
  const size_t stored_cols = 2 * config.grid.cols - 1, class_rows = config.class_rows ? 3 : 0;
  const size_t stored = table.rows - class_rows, offsets = down.size() * across.size();
  Matrix resampled(offsets + class_rows, table.cols);
  for (size_t i = 0; i < offsets; ++i) {
    const auto [y, below] = down[i / across.size()];
    const auto [x, right] = across[i % across.size()];
    for (size_t head = 0; head < table.cols; ++head) {
      const auto at = [&, y = y, x = x](size_t dy, size_t dx, double share) {
        return share == 0.0 ? 0.0 : share * double{table((y + dy) * stored_cols + x + dx, head)};
      };
      resampled(i, head) = static_cast<float>(
          at(0, 0, (1.0 - below) * (1.0 - right)) + at(0, 1, (1.0 - below) * right) +
          at(1, 0, below * (1.0 - right)) + at(1, 1, below * right));
    }
  }
  for (size_t i = 0; i < class_rows; ++i)
    std::copy_n(table.row(stored + i), table.cols, resampled.view().row(offsets + i));
  return resampled;
}

}  // namespace vit
