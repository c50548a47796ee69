#include "vit/encoder/relative_bias.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <span>
#include <utility>

#include "vit/encoder/interpolation.h"

namespace vit {
namespace {

/// Distances of stored offsets from 0: 1, 1 + q, 1 + q + q², … with the q that makes the last
/// one, of `count`, the largest new offset. As BEiT's authors and timm find it, to the bit.
std::vector<double> distances_of(size_t count, double largest) {
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

/// Along one axis: where the 2·from - 1 stored offsets lie, and where the 2·to - 1 new ones do.
struct Axis {
  std::vector<double> stored;
  std::vector<double> wanted;
};

std::vector<double> evenly(size_t count, double first, double step) {
  std::vector<double> places;
  for (size_t i = 0; i < count; ++i) places.push_back(first + static_cast<double>(i) * step);
  return places;
}

Axis axis_of(size_t from, size_t to, RelativeResampling resampling) {
  const size_t inputs = 2 * from - 1, outputs = 2 * to - 1;
  if (resampling == RelativeResampling::kBilinear) {  // half-pixel centres, no antialiasing
    const double scale = static_cast<double>(inputs) / static_cast<double>(outputs);
    return {evenly(inputs, 0.0, 1.0), evenly(outputs, 0.5 * scale - 0.5, scale)};
  }
  const std::vector<double> distances = distances_of(from - 1, static_cast<double>(to - 1));
  std::vector<double> places(inputs);
  for (size_t i = 0; i < distances.size(); ++i) {
    places[from - 2 - i] = -distances[i];
    places[from + i] = distances[i];
  }
  return {std::move(places), evenly(outputs, -static_cast<double>(to - 1), 1.0)};
}

/// The image of one head, row by row, read at other places: first along its rows, then down.
std::vector<double> resample(std::span<const double> image, const Axis& down, const Axis& across,
                             Interpolation1d curve) {
  const size_t rows = down.stored.size(), cols = across.wanted.size();
  std::vector<std::vector<double>> columns(cols, std::vector<double>(rows));
  for (size_t r = 0; r < rows; ++r) {
    const auto row = image.subspan(r * across.stored.size(), across.stored.size());
    const std::vector<double> values = curve(across.stored, row, across.wanted);
    for (size_t c = 0; c < cols; ++c) columns[c][r] = values[c];
  }
  std::vector<double> result(down.wanted.size() * cols);
  for (size_t c = 0; c < cols; ++c) {
    const std::vector<double> values = curve(down.stored, columns[c], down.wanted);
    for (size_t r = 0; r < values.size(); ++r) result[r * cols + c] = values[r];
  }
  return result;
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
  const Axis down = axis_of(config.grid.rows, to.rows, config.resampling);
  const Axis across = axis_of(config.grid.cols, to.cols, config.resampling);
  const Interpolation1d curve = config.resampling == RelativeResampling::kGeometricCubic
                                    ? interpolate_by_spline
                                    : interpolate_linearly;
  const size_t stored = down.stored.size() * across.stored.size();
  const size_t offsets = down.wanted.size() * across.wanted.size();
  const size_t class_rows = config.class_rows ? 3 : 0;
  Matrix resampled(offsets + class_rows, table.cols);
  std::vector<double> image(stored);
  for (size_t head = 0; head < table.cols; ++head) {
    for (size_t i = 0; i < stored; ++i) image[i] = double{table(i, head)};
    const std::vector<double> values = resample(image, down, across, curve);
    for (size_t i = 0; i < offsets; ++i) resampled(i, head) = static_cast<float>(values[i]);
  }
  for (size_t i = 0; i < class_rows; ++i)
    std::copy_n(table.row(stored + i), table.cols, resampled.view().row(offsets + i));
  return resampled;
}

}  // namespace vit
