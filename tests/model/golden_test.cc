// Stage by stage against reference results of timm, torchvision and Hugging Face layouts: the first
// stage that diverges is the one to look at.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/model/same_answer.h"
#include "tests/support/golden.h"
#include "tests/support/near.h"
#include "tests/support/paths.h"
#include "vit/model/load.h"
#include "vit/model/model.h"
#include "vit/model/open.h"
#include "vit/model/runner.h"
#include "weights/checkpoint.h"

namespace vit {
namespace {

namespace fs = std::filesystem;

struct GoldenCase {
  std::string folder;
  std::string file = "";  // empty: the folder itself
  size_t heads = 0;
  std::string expected = "expected.safetensors";
  size_t height = 0, width = 0;  // 0: as the checkpoint says
  PositionResampling positions = PositionResampling::kBilinear;
};

std::string name_of(const ::testing::TestParamInfo<GoldenCase>& info) {
  std::string name = info.param.folder;
  if (info.param.height != 0) name += "_" + std::string(to_string(info.param.positions));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

/// Two blocks of about 15 kernels on 48 to 96 wide tokens: each stage adds at most a few dozen
/// roundings of 6e-8 of its largest value, and 1e-5 of it is promised.
constexpr double kStage = 1e-5;

class Golden : public ::testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override {
    const GoldenCase& c = GetParam();
    const fs::path folder = test::goldens() / c.folder;
    expected_ = test::read_golden(folder / c.expected);
    auto checkpoint = weights::open(c.file.empty() ? folder : folder / c.file, {.heads = c.heads});
    set_input(checkpoint, c.height, c.width, c.positions);
    Recipe recipe = checkpoint.recipe;
    if (c.height != 0) recipe.resize = ResizeMode::kNone;  // these took the image as it is
    model_ = load_model(checkpoint);
    runner_ = std::make_unique<Runner>(model_, recipe);
    runner_->prepare(read_image(folder / "image.png"));
  }

  const test::GoldenTensor& expected(const std::string& name) const {
    const auto found = expected_.find(name);
    if (found == expected_.end()) throw std::runtime_error("no reference for " + name);
    return found->second;
  }

  void expect_stage(const std::string& name, ConstMatrixView got) const {
    test::expect_near(test::numbers_of(got), expected(name).values, kStage, name);
  }

  std::map<std::string, test::GoldenTensor> expected_;
  Model model_;
  std::unique_ptr<Runner> runner_;
};

TEST_P(Golden, EveryStageMatches) {
  size_t blocks = 0, attentions = 0;
  ModelTaps taps;
  taps.pixels = [&](ConstMatrixView pixels) {
    const std::vector<float>& want = expected("pixels").values;
    ASSERT_EQ(want.size(), pixels.rows * pixels.cols);
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_LE(std::abs(want[i] - pixels.data[i]), 0x1p-23f * std::abs(want[i])) << "pixel " << i;
  };
  taps.tokens = [&](ConstMatrixView tokens) { expect_stage("tokens", tokens); };
  taps.encoder.attention = [&](size_t layer, ConstMatrixView attention) {
    const std::string name = "attention." + std::to_string(layer);
    // torchvision does not return its attention.
    if (GetParam().folder != "torchvision_pth") expect_stage(name, attention);
    ++attentions;
  };
  taps.encoder.block = [&](size_t layer, ConstMatrixView tokens) {
    expect_stage("block." + std::to_string(layer), tokens);
    ++blocks;
  };
  const std::span<const float> output = runner_->logits(&taps);
  expect_stage("logits", {output.data(), 1, output.size()});
  EXPECT_EQ(blocks, 2u);
  EXPECT_EQ(attentions, 2u);
}

TEST_P(Golden, TheAnswerIsTheSameWithAndWithoutTapsAndWorkers) {
  test::expect_same_answer(*runner_);
}

GoldenCase resampled(const std::string& way, PositionResampling positions) {
  return {.folder = "position_bilinear",
          .expected = "expected_" + way + ".safetensors",
          .height = 128,
          .width = 96,
          .positions = positions};
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Golden,
    ::testing::Values(
        GoldenCase{"timm_vit"}, GoldenCase{"timm_vit_f16"}, GoldenCase{"timm_vit_bf16"},
        GoldenCase{"timm_nonsquare"}, GoldenCase{"timm_deit3"}, GoldenCase{"timm_deit_distilled"},
        GoldenCase{"timm_dinov2"}, GoldenCase{"timm_dinov2_registers"},
        GoldenCase{"timm_dinov2_swiglu"}, GoldenCase{"timm_gap_registers"},
        GoldenCase{"timm_clip_quickgelu"}, GoldenCase{"timm_siglip_map"}, GoldenCase{"hf_vit"},
        GoldenCase{"hf_vit_new_names"}, GoldenCase{"hf_deit_distilled"}, GoldenCase{"hf_dinov2"},
        GoldenCase{"timm_vit_pth"}, GoldenCase{"torchvision_pth", "vit.pth", 3},
        GoldenCase{"jax_npz", "vit.npz"}, resampled("bilinear", PositionResampling::kBilinear),
        resampled("bilinear_align_corners", PositionResampling::kBilinearAlignCorners),
        resampled("bicubic", PositionResampling::kBicubic),
        resampled("bicubic_antialias", PositionResampling::kBicubicAntialias)),
    name_of);

}  // namespace
}  // namespace vit
