#include "vit/train/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/random.h"

namespace vit::train {
namespace {

TEST(Loss, SmoothedLabelsSumToOne) {
  std::vector<float> target(5);
  set_label(2, 0.1, target);
  EXPECT_FLOAT_EQ(target[2], 0.92f);
  EXPECT_FLOAT_EQ(target[0], 0.02f);
  blend(std::vector<float>{1, 0, 0, 0, 0}, 0.25, target);
  EXPECT_FLOAT_EQ(target[0], 0.265f);
  EXPECT_FLOAT_EQ(target[2], 0.69f);
}

TEST(Loss, GradientMatchesCentralDifferences) {
  Matrix logits = test::random_matrix(3, 4, 1, 2.0f);
  Matrix targets(3, 4), gradient(3, 4);
  for (size_t r = 0; r < 3; ++r) set_label(r, 0.2, targets.view().row_span(r));
  cross_entropy(logits, targets, 0.5, gradient);
  constexpr float kStep = 0x1p-7f;
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 4; ++c) {
      const float before = logits(r, c);
      logits(r, c) = before + kStep;
      const double above = cross_entropy(logits, targets, 0.5, {}).loss;
      logits(r, c) = before - kStep;
      const double below = cross_entropy(logits, targets, 0.5, {}).loss;
      logits(r, c) = before;
      EXPECT_NEAR(gradient(r, c), 0.5 * (above - below) / (2.0 * kStep), 1e-5);
    }
}

TEST(Loss, CountsWhatIsRightAndSurvivesLargeLogits) {
  Matrix logits(2, 2), targets(2, 2);
  logits(0, 0) = 1e4f;
  logits(1, 0) = 1e4f;
  set_label(0, 0.0, targets.view().row_span(0));
  set_label(1, 0.0, targets.view().row_span(1));
  const LossSum sum = cross_entropy(logits, targets, 1.0, {});
  EXPECT_EQ(sum.correct, 1u);
  EXPECT_NEAR(sum.loss, 1e4, 1.0);
}

}  // namespace
}  // namespace vit::train
