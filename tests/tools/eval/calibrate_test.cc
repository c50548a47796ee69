#include "tools/eval/calibrate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace vit::tools {
namespace {

/// Two classes whose logits differ by `gap`; `right` of `all` answers are right.
double fitted(float gap, int right, int all) {
  TemperatureFit fit;
  const std::array<float, 2> logits{gap, 0.0f};
  for (int i = 0; i < all; ++i) fit.add(TemperatureFit::losses(logits, i < right ? 0 : 1));
  return fit.temperature();
}

TEST(TemperatureFit, MakesConfidenceAgreeWithHowOftenAnswersAreRight) {
  // sigmoid(gap / T) = right / all has the solution T = gap / log(odds). The grid is 3.7 % wide
  // and the loss is a parabola there up to the fourth order.
  EXPECT_NEAR(fitted(2.0f, 3, 4), 2.0 / std::log(3.0), 1e-3);
  EXPECT_NEAR(fitted(1.0f, 9, 10), 1.0 / std::log(9.0), 1e-3);
}

TEST(TemperatureFit, StaysWithinItsBoundsWhereNothingIsEnough) {
  EXPECT_NEAR(fitted(1.0f, 10, 10), TemperatureFit::kLowest, 1e-9);
  EXPECT_NEAR(fitted(1.0f, 5, 10), TemperatureFit::kHighest, 1e-9);
}

TEST(TemperatureFit, SurvivesLogitsWhoseExponentialsWouldOverflow) {
  const std::array<float, 3> logits{3e4f, -3e4f, 0.0f};
  for (const double loss : TemperatureFit::losses(logits, 1)) EXPECT_TRUE(std::isfinite(loss));
}

}  // namespace
}  // namespace vit::tools
