#include "patch/position.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <span>
#include <vector>

#include "vit/base/error.h"

namespace vit::patch {
namespace {

/// What one output reads, along one axis.
struct Tap {
  size_t input;
  double weight;
};
using Taps = std::vector<Tap>;

/// Keys' cubic, `a` its slope at 1.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return ((x - 5.0) * x + 8.0) * x * a - 4.0 * a;
  return 0.0;
}

size_t clamped(double input, size_t inputs) {
  return static_cast<size_t>(std::clamp(input, 0.0, static_cast<double>(inputs - 1)));
}

Taps linear_taps(double position, size_t inputs) {
  const double at = std::max(position, 0.0), below = std::floor(at);
  return {{clamped(below, inputs), 1.0 - (at - below)}, {clamped(below + 1, inputs), at - below}};
}

// Four taps however much it shrinks; those outside repeat the edge. torch takes a = -0.75 here.
Taps cubic_taps(double position, size_t inputs) {
  const double below = std::floor(position);
  Taps taps;
  for (const double offset : {-1.0, 0.0, 1.0, 2.0})
    taps.push_back({clamped(below + offset, inputs), cubic(below + offset - position, -0.75)});
  return taps;
}

/// A filter for any scale, which reaches `radius` either way.
struct Filter {
  double (*weight)(double distance);
  double radius;
};
constexpr Filter kTriangle{[](double x) { return std::max(1.0 - std::abs(x), 0.0); }, 1.0};
constexpr Filter kCubic{[](double x) { return cubic(x, -0.5); }, 2.0};

// Stretched over all inputs of an output when shrinking; taps outside are dropped.
Taps antialiased_taps(double position, double scale, size_t inputs, const Filter& filter) {
  const double stretch = std::max(scale, 1.0), reach = filter.radius * stretch;
  const double begin = std::max(std::floor(position + 1.0 - reach), 0.0);
  const double end = std::min(std::floor(position + 1.0 + reach), static_cast<double>(inputs));
  Taps taps;
  double sum = 0.0;
  for (double input = begin; input < end; ++input) {
    taps.push_back({static_cast<size_t>(input), filter.weight((input - position) / stretch)});
    sum += taps.back().weight;
  }
  for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

Taps make_taps(size_t output, size_t inputs, size_t outputs, PositionResampling resampling) {
  const double at = static_cast<double>(output);
  if (resampling == PositionResampling::kBilinearAlignCorners) {
    const double scale =
        outputs > 1 ? static_cast<double>(inputs - 1) / static_cast<double>(outputs - 1) : 0.0;
    return linear_taps(at * scale, inputs);
  }
  const double scale = static_cast<double>(inputs) / static_cast<double>(outputs);
  const double position = (at + 0.5) * scale - 0.5;  // pixels are areas, not points
  switch (resampling) {
    case PositionResampling::kBicubic:
      return cubic_taps(position, inputs);
    case PositionResampling::kBicubicAntialias:
      return antialiased_taps(position, scale, inputs, kCubic);
    case PositionResampling::kBilinearAntialias:
      return antialiased_taps(position, scale, inputs, kTriangle);
    default:
      return linear_taps(position, inputs);
  }
}

std::vector<Taps> axis_taps(size_t inputs, size_t outputs, PositionResampling resampling) {
  std::vector<Taps> taps;
  for (size_t i = 0; i < outputs; ++i) taps.push_back(make_taps(i, inputs, outputs, resampling));
  return taps;
}

/// out += weight · row, in double: sums of sixteen floats should cost no accuracy.
void add_scaled(std::span<const float> row, double weight, std::vector<double>& out) {
  for (size_t d = 0; d < row.size(); ++d) out[d] += weight * static_cast<double>(row[d]);
}

void check(ConstMatrixView table, GridSize from, GridSize to) {
  if (from.count() == 0 || table.rows != from.count())
    fail("position table has ", table.rows, " rows, expected ", from.rows, "x", from.cols,
         " of its grid");
  if (to.count() == 0) fail("cannot resample positions to a grid of ", to.rows, "x", to.cols);
}

/// The square that holds a grid, of which the grid is the top left part.
GridSize square_around(GridSize grid) {
  const size_t edge = std::max(grid.rows, grid.cols);
  return {edge, edge};
}

/// A learned table of the patches for the grid of `config`.
Matrix learned_positions(const EmbeddingConfig& config, ConstMatrixView stored) {
  const GridSize from = config.position_grid, grid = config.grid();
  if (!config.positions_keep_aspect || from == grid)
    return resample_positions(stored, from, grid, config.position_resampling);
  const GridSize square = square_around(grid);
  const Matrix all = resample_positions(stored, from, square, config.position_resampling);
  Matrix part(grid.count(), stored.cols);
  for (size_t i = 0; i < grid.count(); ++i)
    std::copy_n(all.view().row(i / grid.cols * square.cols + i % grid.cols), stored.cols,
                part.view().row(i));
  return part;
}

/// stored: a row for each row of the table's grid, then one for each column.
Matrix factorized_positions(const EmbeddingConfig& config, ConstMatrixView stored) {
  const GridSize from = config.position_grid, grid = config.grid();
  const GridSize to = config.positions_keep_aspect ? square_around(grid) : grid;
  constexpr auto kLinear = PositionResampling::kBilinear;
  const Matrix rows =
      resample_positions(stored.row_range(0, from.rows), {from.rows, 1}, {to.rows, 1}, kLinear);
  const Matrix cols = resample_positions(stored.row_range(from.rows, from.cols), {1, from.cols},
                                         {1, to.cols}, kLinear);
  Matrix sums(grid.count(), stored.cols);
  for (size_t i = 0; i < grid.count(); ++i)
    for (size_t d = 0; d < stored.cols; ++d)
      sums(i, d) = rows(i / grid.cols, d) + cols(i % grid.cols, d);
  return sums;
}

}  // namespace

Matrix resample_positions(ConstMatrixView table, GridSize from, GridSize to,
                          PositionResampling resampling) {
  check(table, from, to);
  Matrix resampled(to.count(), table.cols);
  if (from == to) {
    for (size_t r = 0; r < table.rows; ++r)
      std::copy_n(table.row(r), table.cols, resampled.view().row(r));
    return resampled;
  }
  const std::vector<Taps> down = axis_taps(from.rows, to.rows, resampling);
  const std::vector<Taps> across = axis_taps(from.cols, to.cols, resampling);
  std::vector<double> sums(table.cols);
  for (size_t out = 0; out < to.count(); ++out) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (const Tap& y : down[out / to.cols])
      for (const Tap& x : across[out % to.cols])
        add_scaled(table.row_span(y.input * from.cols + x.input), y.weight * x.weight, sums);
    std::transform(sums.begin(), sums.end(), resampled.view().row(out),
                   [](double sum) { return static_cast<float>(sum); });
  }
  return resampled;
}

Matrix sinusoidal_positions_1d(size_t count, size_t width) {
  Matrix table(count, width);
  for (size_t d = 0; d < width; ++d) {
    const size_t even = d / 2 * 2;
    const double exponent = static_cast<double>(even) / static_cast<double>(width);
    const double frequency = std::pow(10000.0, -exponent);
    for (size_t p = 0; p < count; ++p) {
      const double angle = static_cast<double>(p) * frequency;
      table(p, d) = static_cast<float>(d % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

Matrix sinusoidal_positions_2d(GridSize grid, size_t width, double temperature) {
  if (width == 0 || width % 4 != 0)
    fail("sinusoidal positions of width ", width, ": expected a multiple of 4");
  const size_t quarter = width / 4;
  Matrix table(grid.count(), width);
  for (size_t i = 0; i < quarter; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(quarter);
    const double frequency = std::pow(temperature, -exponent);
    for (size_t p = 0; p < grid.count(); ++p) {
      const size_t row = p / grid.cols, column = p % grid.cols;
      const double x = static_cast<double>(column) * frequency;
      const double y = static_cast<double>(row) * frequency;
      table(p, i) = static_cast<float>(std::sin(x));
      table(p, quarter + i) = static_cast<float>(std::cos(x));
      table(p, 2 * quarter + i) = static_cast<float>(std::sin(y));
      table(p, 3 * quarter + i) = static_cast<float>(std::cos(y));
    }
  }
  return table;
}

Matrix positions_for(const EmbeddingConfig& config, size_t width, ConstMatrixView stored) {
  const GridSize grid = config.grid();
  const size_t covered = config.covered_prefix();
  switch (config.positions) {
    case PositionKind::kNone:
      return {};
    case PositionKind::kSinusoidal1d:
      return sinusoidal_positions_1d(covered + grid.count(), width);
    case PositionKind::kSinusoidal2d:
      return sinusoidal_positions_2d(grid, width);
    case PositionKind::kFactorized:
      return factorized_positions(config, stored);
    case PositionKind::kLearned:
      break;
  }
  const Matrix patches =
      learned_positions(config, stored.row_range(covered, config.position_grid.count()));
  Matrix all(covered + grid.count(), width);
  for (size_t r = 0; r < all.rows(); ++r)
    std::copy_n(r < covered ? stored.row(r) : patches.view().row(r - covered), width,
                all.view().row(r));
  return all;
}

}  // namespace vit::patch
