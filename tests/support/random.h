/// Repeatable random matrices for tests.
#pragma once

#include <random>
#include <vector>

#include "vit/base/matrix.h"

namespace vit::test {

inline Matrix random_matrix(size_t rows, size_t cols, unsigned seed, float spread = 1.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  Matrix m(rows, cols);
  for (size_t i = 0; i < m.size(); ++i) m.data()[i] = normal(engine);
  return m;
}

inline std::vector<float> random_vector(size_t n, unsigned seed, float spread = 1.0f) {
  const Matrix m = random_matrix(1, n, seed, spread);
  return {m.data(), m.data() + n};
}

}  // namespace vit::test
