#include "vit/interpret/pattern.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vit::interpret {
namespace {

/// Sums over the cells of a template of ones.
struct Overlap {
  double mass = 0.0;  // Σ of the weights on the template's cells
  double rows = 0.0;  // queries that have such a cell
  double cells = 0.0;
};

/// Sums over the whole matrix.
struct Whole {
  double rows = 0.0;
  double cols = 0.0;
  double squares = 0.0;  // Σ w²
  double part = 1.0;     // share of attention that does not go to prefix tokens
};

/// Pearson's correlation of weights and template, times the share of attention beyond chance. Rows
/// add up to 1, so that the means are 1 / cols and cells / (rows · cols).
double score_of(const Overlap& overlap, const Whole& whole) {
  if (overlap.cells == 0.0) return 0.0;
  const double n = whole.rows * whole.cols;
  const double covariance = overlap.mass - overlap.cells / whole.cols;
  const double variance = whole.squares - whole.rows / whole.cols;
  const double of_template = overlap.cells - overlap.cells * overlap.cells / n;
  if (variance <= 1e-12 || of_template <= 0.0 || covariance <= 0.0) return 0.0;
  const double fit = covariance / std::sqrt(variance * of_template);
  const double chance = overlap.cells / overlap.rows / whole.cols;
  const double share = (overlap.mass / overlap.rows - chance) / (1.0 - chance) * whole.part;
  return share <= 0.0 ? 0.0 : std::sqrt(std::min(fit, 1.0) * share);
}

/// The attention between patches, with rows normalised to 1. [N, N]
Matrix between_patches(ConstMatrixView head, const TokenLayout& layout, Whole& whole) {
  const size_t n = layout.grid.count(), first = layout.first_patch();
  Matrix between(n, n);
  double kept = 0.0;
  for (size_t i = 0; i < n; ++i) {
    const float* row = head.row(first + i) + first;
    double mass = 0.0;
    for (size_t j = 0; j < n; ++j) mass += row[j];
    kept += mass;
    for (size_t j = 0; j < n; ++j) {
      const double weight = mass > 0.0 ? row[j] / mass : 1.0 / static_cast<double>(n);
      between(i, j) = static_cast<float>(weight);
      whole.squares += weight * weight;
    }
  }
  whole.rows = whole.cols = static_cast<double>(n);
  whole.part = kept / static_cast<double>(n);
  return between;
}

void keep_better(const Pattern& candidate, Pattern& best) {
  if (candidate.score > best.score) best = candidate;
}

/// Every pair of patches has exactly one offset, so that one pass covers all.
void try_offsets(const Matrix& between, const TokenLayout& layout, const Whole& whole,
                 Pattern& best) {
  const auto [rows, cols] = layout.grid;
  const size_t table_cols = 2 * cols - 1;
  std::vector<Overlap> offsets((2 * rows - 1) * table_cols);
  for (size_t i = 0; i < layout.grid.count(); ++i)
    for (size_t j = 0; j < layout.grid.count(); ++j) {
      const size_t down = j / cols + rows - 1 - i / cols, right = j % cols + cols - 1 - i % cols;
      Overlap& overlap = offsets[down * table_cols + right];
      overlap.mass += between(i, j);
      overlap.cells += 1.0;
    }
  for (size_t at = 0; at < offsets.size(); ++at) {
    Overlap& overlap = offsets[at];
    overlap.rows = overlap.cells;
    // An offset that is outside of the grid for most patches is not a pattern.
    if (2.0 * overlap.cells < whole.rows) continue;
    const int down = static_cast<int>(at / table_cols) - static_cast<int>(rows) + 1;
    const int right = static_cast<int>(at % table_cols) - static_cast<int>(cols) + 1;
    const bool self = down == 0 && right == 0;
    keep_better({.kind = self ? PatternKind::kDiagonal : PatternKind::kOffset,
                 .score = score_of(overlap, whole),
                 .row_offset = down,
                 .col_offset = right},
                best);
  }
}

bool same_block(BlockShape shape, size_t a, size_t b, GridSize grid) {
  const size_t row_a = a / grid.cols, row_b = b / grid.cols;
  const size_t col_a = a % grid.cols, col_b = b % grid.cols;
  switch (shape) {
    case BlockShape::kRow:
      return row_a == row_b;
    case BlockShape::kColumn:
      return col_a == col_b;
    case BlockShape::kQuadrant:
      return (2 * row_a < grid.rows) == (2 * row_b < grid.rows) &&
             (2 * col_a < grid.cols) == (2 * col_b < grid.cols);
  }
  return false;
}

void try_blocks(const Matrix& between, const TokenLayout& layout, const Whole& whole,
                Pattern& best) {
  if (layout.grid.rows < 2 || layout.grid.cols < 2) return;
  for (const auto shape : {BlockShape::kRow, BlockShape::kColumn, BlockShape::kQuadrant}) {
    Overlap overlap{.mass = 0.0, .rows = whole.rows, .cells = 0.0};
    for (size_t i = 0; i < between.rows(); ++i)
      for (size_t j = 0; j < between.cols(); ++j)
        if (same_block(shape, i, j, layout.grid)) {
          overlap.mass += between(i, j);
          overlap.cells += 1.0;
        }
    keep_better({.kind = PatternKind::kBlock, .score = score_of(overlap, whole), .block = shape},
                best);
  }
}

void try_verticals(ConstMatrixView head, Pattern& best) {
  Whole whole{.rows = static_cast<double>(head.rows), .cols = static_cast<double>(head.cols)};
  std::vector<double> columns(head.cols);
  for (size_t i = 0; i < head.rows; ++i)
    for (size_t j = 0; j < head.cols; ++j) {
      columns[j] += head(i, j);
      whole.squares += double{head(i, j)} * double{head(i, j)};
    }
  const auto token = static_cast<size_t>(
      std::distance(columns.begin(), std::max_element(columns.begin(), columns.end())));
  const Overlap overlap{.mass = columns[token], .rows = whole.rows, .cells = whole.rows};
  keep_better({.kind = PatternKind::kVertical, .score = score_of(overlap, whole), .token = token},
              best);
}

std::string with_sign(int number) {
  return (number > 0 ? "+" : "") + std::to_string(number);
}

}  // namespace

Pattern recognize(ConstMatrixView head, const TokenLayout& layout) {
  Pattern best;
  Whole whole;
  const Matrix between = between_patches(head, layout, whole);
  try_offsets(between, layout, whole, best);
  try_blocks(between, layout, whole, best);
  try_verticals(head, best);
  if (best.score < kPatternScore) return {.kind = PatternKind::kMixed, .score = best.score};
  return best;
}

std::string describe(const Pattern& pattern, const TokenLayout& layout) {
  const std::string name(to_string(pattern.kind));
  switch (pattern.kind) {
    case PatternKind::kOffset:
      return name + " " + with_sign(pattern.row_offset) + "," + with_sign(pattern.col_offset);
    case PatternKind::kVertical:
      return name + " " + token_name(layout, pattern.token);
    case PatternKind::kBlock:
      return name + " " + std::string(to_string(pattern.block));
    case PatternKind::kDiagonal:
    case PatternKind::kMixed:
      break;
  }
  return name;
}

}  // namespace vit::interpret
