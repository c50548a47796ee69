#include "vit/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random.h"
#include "tests/support/small_config.h"
#include "vit/train/muon.h"

namespace vit::train {
namespace {

ModelConfig tiny() {
  ModelConfig c = test::small_config(
      {.grid = {2, 2}, .patch = 4, .width = 8, .heads = 2, .mlp_width = 16, .classes = 4});
  c.encoder.layer_scale = true;
  return c;
}

TEST(Groups, OnlyMatricesDecay) {
  const gradient::Layout layout(tiny());
  const auto groups = make_groups(layout, tiny(), 1.0);
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string& name = layout.slots()[i].name();
    const bool matrix = name.find("norm") == std::string::npos && name.ends_with(".weight");
    EXPECT_EQ(groups[i].decays, matrix) << name;
  }
}

TEST(Groups, LowerLayersLearnMoreSlowly) {
  const gradient::Layout layout(tiny());
  const auto groups = make_groups(layout, tiny(), 0.5);
  const auto rate_of = [&](const char* name) {
    return groups[static_cast<size_t>(layout.find(name) - layout.slots().data())].rate;
  };
  EXPECT_EQ(rate_of("head.weight"), 1.0);
  EXPECT_EQ(rate_of("norm.weight"), 1.0);
  EXPECT_EQ(rate_of("blocks.2.mlp.fc1.weight"), 0.5);
  EXPECT_EQ(rate_of("blocks.0.mlp.fc1.weight"), 0.125);
  EXPECT_EQ(rate_of("pos_embed"), 0.0625);
}

/// Against the equations of the paper (Loshchilov and Hutter 2019), in double.
TEST(AdamW, FollowsItsEquations) {
  const AdamW adam{.weight_decay = 0.1};
  const std::vector<Group> groups{{.offset = 0, .size = 2, .rate = 1.0, .decays = true},
                                  {.offset = 2, .size = 1, .rate = 0.5, .decays = false}};
  std::vector<float> numbers{1.0f, -2.0f, 3.0f};
  double expected[3] = {1.0, -2.0, 3.0}, m[3] = {}, v[3] = {};
  Moments moments(3);
  for (int t = 1; t <= 5; ++t) {
    const std::vector<float> gradient{0.1f * static_cast<float>(t), -0.3f, 0.01f};
    step(adam, groups, {.gradient = gradient, .gradient_scale = 0.5, .rate = 0.01}, moments,
         numbers, nullptr);
    for (size_t i = 0; i < 3; ++i) {
      const double g = 0.5 * gradient[i], rate = i < 2 ? 0.01 : 0.005, decay = i < 2 ? 0.1 : 0.0;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      expected[i] -=
          rate * decay * expected[i] + rate * (m[i] / (1 - std::pow(0.9, t))) /
                                           (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-8);
      EXPECT_NEAR(numbers[i], expected[i], 1e-6);
    }
  }
}

TEST(Groups, MuonTakesTheMatricesOfTheBlocksQueriesKeysAndValuesApart) {
  const gradient::Layout layout(tiny());
  const auto groups = make_groups(layout, tiny(), 1.0, OptimizerKind::kMuon);
  size_t matrices = 0, numbers = 0;
  for (const Group& group : groups) {
    EXPECT_EQ(group.offset, numbers) << "no gap, no overlap";
    numbers += group.size;
    if (group.rows == 0) continue;
    ++matrices;
    EXPECT_EQ(group.rows * group.cols, group.size);
    EXPECT_LE(group.rows, tiny().encoder.mlp_width);
    EXPECT_TRUE(group.decays);
  }
  EXPECT_EQ(numbers, layout.size());
  EXPECT_EQ(matrices, 3 * 6) << "q, k, v, projection, fc1, fc2 in each of three blocks";
}

/// Rows or columns, whichever are fewer, come out nearly orthonormal.
TEST(Muon, MakesWideAndTallMatricesOrthogonal) {
  for (const auto& [rows, cols] : {std::pair<size_t, size_t>{6, 6}, {5, 12}, {12, 5}}) {
    Matrix matrix = test::random_matrix(rows, cols, 7);
    const Matrix before = test::random_matrix(rows, cols, 7);
    orthogonalize(matrix);
    const bool tall = rows > cols;
    const size_t side = std::min(rows, cols), length = std::max(rows, cols);
    const auto at = [&](const Matrix& m, size_t i, size_t k) { return tall ? m(k, i) : m(i, k); };
    double along = 0.0;
    for (size_t i = 0; i < side; ++i)
      for (size_t j = 0; j < side; ++j) {
        double dot = 0.0;
        for (size_t k = 0; k < length; ++k) dot += double{at(matrix, i, k)} * at(matrix, j, k);
        // Singular values between 0.7 and 1.2: their squares between 0.49 and 1.44.
        EXPECT_NEAR(dot, i == j ? 1.0 : 0.0, 0.52) << rows << "x" << cols << " " << i << " " << j;
        if (i == j)
          for (size_t k = 0; k < length; ++k) along += double{at(matrix, i, k)} * at(before, i, k);
      }
    EXPECT_GT(along, 0.0) << "it must not turn around";
  }
}

TEST(Muon, FallsOnAQuadraticValleyAndLeavesZeroGradientsAlone) {
  const std::vector<Group> groups{
      {.offset = 0, .size = 12, .rate = 1.0, .decays = false, .rows = 3, .cols = 4}};
  std::vector<float> numbers(12, 1.0f);
  Moments moments(12);
  const std::vector<float> nothing(12, 0.0f);
  step({}, groups, {.gradient = nothing, .rate = 0.1}, moments, numbers, nullptr);
  EXPECT_EQ(numbers, std::vector<float>(12, 1.0f));
  double first = 0.0, last = 0.0;
  for (int i = 0; i < 1000; ++i) {  // every update is as long as the rate says, so that must fall
    last = norm_of(numbers);        // the gradient of half its square
    if (i == 0) first = last;
    const std::vector<float> gradient = numbers;
    step({}, groups, {.gradient = gradient, .rate = 0.1 * (1.0 - i / 1000.0)}, moments, numbers,
         nullptr);
  }
  EXPECT_LT(last, 0.1 * first);
}

TEST(Clip, BringsALongGradientDownToTheLimit) {
  EXPECT_DOUBLE_EQ(norm_of(std::vector<float>{3.0f, 4.0f}), 5.0);
  EXPECT_DOUBLE_EQ(clip_factor(5.0, 1.0), 0.2);
  EXPECT_DOUBLE_EQ(clip_factor(0.5, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(clip_factor(5.0, 0.0), 1.0);
}

TEST(Schedule, WarmsUpAndFallsAsACosine) {
  const Schedule schedule{.rate = 1.0, .least = 0.1, .warmup_steps = 10, .steps = 110};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(9), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(10), 1.0);
  EXPECT_NEAR(schedule.at(60), 0.55, 1e-12);
  EXPECT_NEAR(schedule.at(110), 0.1, 1e-12);
}

TEST(Average, FollowsQuicklyAtFirstAndSlowlyLater) {
  std::vector<float> average{0.0f};
  average_in(std::vector<float>{1.0f}, 0.999, 0, average);
  EXPECT_FLOAT_EQ(average[0], 0.9f);
  average = {0.0f};
  average_in(std::vector<float>{1.0f}, 0.999, 1'000'000, average);
  EXPECT_NEAR(average[0], 0.001f, 1e-6);
}

}  // namespace
}  // namespace vit::train
