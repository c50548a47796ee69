/// Comparison of a model's numbers with reference numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "vit/base/matrix.h"

namespace vit::test {

inline std::vector<float> numbers_of(ConstMatrixView view) {
  std::vector<float> numbers;
  numbers.reserve(view.rows * view.cols);
  for (size_t r = 0; r < view.rows; ++r)
    numbers.insert(numbers.end(), view.row(r), view.row(r) + view.cols);
  return numbers;
}

/// |got - want|, infinite if one is NaN.
inline double difference(double got, double want) {
  const double apart = std::abs(got - want);
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

/// Every number within `part` of the largest one expected.
inline void expect_near(std::span<const float> got, std::span<const float> want, double part,
                        const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double largest = 0.0, worst = 0.0;
  for (size_t i = 0; i < want.size(); ++i) {
    largest = std::max(largest, std::abs(double{want[i]}));
    worst = std::max(worst, difference(got[i], want[i]));
  }
  EXPECT_LE(worst, part * largest) << what << ": off by " << worst / largest << " of " << largest;
}

}  // namespace vit::test
