#include "vit/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace vit::train {
namespace {

ModelConfig tiny() {
  ModelConfig c;
  c.image_height = c.image_width = 8;
  c.patch_height = c.patch_width = 4;
  c.position_grid = c.grid();
  c.width = 8;
  c.depth = 3;
  c.heads = c.key_value_heads = 2;
  c.mlp_width = 16;
  c.classes = 4;
  c.layer_scale = true;
  return c;
}

TEST(Groups, OnlyMatricesDecay) {
  const gradient::Layout layout(tiny());
  const auto groups = make_groups(layout, tiny(), 1.0);
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string& name = layout.slots()[i].name;
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

TEST(Average, ForgetsItsYouthAndFollowsSlowlyLater) {
  std::vector<float> average{0.0f};
  average_in(std::vector<float>{1.0f}, 0.999, 0, average);
  EXPECT_FLOAT_EQ(average[0], 0.9f);
  average = {0.0f};
  average_in(std::vector<float>{1.0f}, 0.999, 1'000'000, average);
  EXPECT_NEAR(average[0], 0.001f, 1e-6);
}

}  // namespace
}  // namespace vit::train
