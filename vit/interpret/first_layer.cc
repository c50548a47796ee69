#include "vit/interpret/first_layer.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "vit/base/error.h"
#include "vit/kernels/multiply.h"

namespace vit::interpret {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

/// The rows of the packed projection, computed from its result for each unit patch.
Matrix filters_of(const Linear& project) {
  Matrix units(project.in, project.in), columns(project.in, project.out);
  for (size_t i = 0; i < project.in; ++i) units(i, i) = 1.0f;
  apply(project, units, columns, {nullptr, project.isa});
  Matrix filters(project.out, project.in);
  for (size_t r = 0; r < project.out; ++r) {
    const float bias = project.bias.empty() ? 0.0f : project.bias[r];
    for (size_t c = 0; c < project.in; ++c) filters(r, c) = columns(c, r) - bias;
  }
  return filters;
}

/// Σ over rows of (row - mean)ᵀ·(row - mean): [cols, cols].
Matrix scatter(ConstMatrixView rows, Isa isa) {
  Matrix turned(rows.cols, rows.rows);
  for (size_t c = 0; c < rows.cols; ++c) {
    double mean = 0.0;
    for (size_t r = 0; r < rows.rows; ++r) mean += rows(r, c);
    mean /= static_cast<double>(rows.rows);
    for (size_t r = 0; r < rows.rows; ++r) turned(c, r) = static_cast<float>(rows(r, c) - mean);
  }
  Matrix products(rows.cols, rows.cols);
  multiply(turned, turned, products, {.b = Transpose::kYes}, isa);
  return products;
}

/// Orthonormalises the rows (Gram-Schmidt). Twice, to remove the rounding errors of the first
/// pass.
void orthonormalize(MatrixView rows) {
  for (size_t i = 0; i < rows.rows; ++i)
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t j = 0; j < i; ++j) {
        const double along = dot(rows.row_span(i), rows.row_span(j));
        for (size_t c = 0; c < rows.cols; ++c) rows(i, c) -= static_cast<float>(along * rows(j, c));
      }
      const double length = std::sqrt(dot(rows.row_span(i), rows.row_span(i)));
      if (length <= 0.0) continue;
      for (float& value : rows.row_span(i)) value = static_cast<float>(value / length);
    }
}

/// The sign of a component is arbitrary; its largest number is made positive.
void fix_sign(std::span<float> row) {
  const auto largest = std::max_element(row.begin(), row.end(),
                                        [](float a, float b) { return std::abs(a) < std::abs(b); });
  if (*largest >= 0.0f) return;
  for (float& value : row) value = -value;
}

}  // namespace

Matrix position_similarity(const Model& model) {
  const Matrix& positions = model.embedding.positions;
  if (positions.empty()) fail("the model has no position embeddings");
  const size_t n = positions.rows();
  Matrix similarity(n, n);
  multiply(positions, positions, similarity, {.b = Transpose::kYes}, model.isa);
  std::vector<float> lengths(n);
  for (size_t i = 0; i < n; ++i) lengths[i] = std::sqrt(similarity(i, i));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      const float product = lengths[i] * lengths[j];
      similarity(i, j) = product > 0.0f ? std::min(similarity(i, j) / product, 1.0f) : 0.0f;
    }
  return similarity;
}

FilterComponents principal_components(ConstMatrixView filters, size_t k, Isa isa) {
  k = std::min({k, filters.rows, filters.cols});
  const Matrix products = scatter(filters, isa);
  double total = 0.0;
  for (size_t i = 0; i < products.rows(); ++i) total += products(i, i);

  // Orthogonal iteration: each product amplifies the large components most.
  Matrix rows(k, filters.cols), stretched(k, filters.cols);
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < rows.size(); ++i) rows.data()[i] = normal(engine);
  orthonormalize(rows);
  constexpr int kIterations = 150;
  for (int i = 0; i < kIterations; ++i) {
    multiply(rows, products, stretched, {}, isa);
    std::swap(rows, stretched);
    orthonormalize(rows);
  }
  multiply(rows, products, stretched, {}, isa);
  FilterComponents found{.components = std::move(rows), .share = {}};
  for (size_t i = 0; i < k; ++i) {
    const double variance = dot(found.components.view().row_span(i), stretched.view().row_span(i));
    found.share.push_back(total > 0.0 ? variance / total : 0.0);
    fix_sign(found.components.view().row_span(i));
  }
  return found;
}

FilterComponents filter_components(const Model& model, size_t k) {
  return principal_components(filters_of(model.embedding.project), k, model.isa);
}

}  // namespace vit::interpret
