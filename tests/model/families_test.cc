// EVA, DINOv3, Perception Encoder, RoPE-ViT, BEiT, CaiT, relpos and NaFlex, stage by stage against
// timm, transformers and their authors' code, at the trained size and at another one.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "patch/position.h"
#include "tests/model/same_answer.h"
#include "tests/support/golden.h"
#include "tests/support/near.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"
#include "vit/encoder/relative_bias.h"
#include "vit/model/bind.h"
#include "vit/model/load.h"
#include "vit/model/model.h"
#include "vit/model/runner.h"
#include "weights/checkpoint.h"

namespace vit {
namespace {

namespace fs = std::filesystem;

struct FamilyCase {
  std::string folder;
  size_t height = 0, width = 0;  // 0: as the checkpoint says
  size_t patches = 0;            // NaFlex: image.png, resized to at most this many
  // Files of the authors say neither the input size nor, some of them, the heads.
  std::string file{};
  size_t edge = 0, heads = 0;
  std::string variant{};  // of expected.safetensors: an answer by other rules than the file's own
};

std::string name_of(const ::testing::TestParamInfo<FamilyCase>& info) {
  const auto& [folder, height, width, patches, file, edge, heads, variant] = info.param;
  if (!variant.empty()) return folder + "_" + variant;
  if (patches != 0) return folder + "_sequence_" + std::to_string(patches);
  return height == 0 ? folder : folder + "_" + std::to_string(height) + "x" + std::to_string(width);
}

/// Every stage must agree to this part of its largest value.
constexpr double kStage = 1e-5;

class Families : public ::testing::TestWithParam<FamilyCase> {
 protected:
  void SetUp() override {
    const auto& [name, height, width, patches, file, edge, heads, variant] = GetParam();
    const fs::path folder = test::goldens() / "families" / name;
    checkpoint_ = weights::open(folder / file, {.heads = heads});
    if (variant == "f32_periods") checkpoint_.config.encoder.rotary.stored_periods = false;
    Recipe recipe = checkpoint_.recipe;
    if (variant == "pillow") recipe.float_resize = false;
    const std::string size = std::to_string(height) + "x" + std::to_string(width);
    std::string image = "image.png", expected = "expected.safetensors";
    if (edge != 0) {
      recipe = scaled_to(recipe, edge, edge);
    } else if (patches != 0) {
      expected = "expected_sequence_" + std::to_string(patches) + ".safetensors";
      recipe.resize = ResizeMode::kSquash;
      recipe.resize_height = recipe.crop_height = height;
      recipe.resize_width = recipe.crop_width = width;
    } else if (height != 0) {  // the image has this size already
      image = "image_" + size + ".png";
      expected = "expected_" + size + ".safetensors";
      recipe = scaled_to(recipe, height, width);
      recipe.resize = ResizeMode::kNone;
    }
    if (!variant.empty()) expected = "expected_" + variant + ".safetensors";
    expected_ = test::read_golden(folder / expected);
    weights::Checkpoint resized = checkpoint_;
    resized.config.embedding.image_height = recipe.crop_height;
    resized.config.embedding.image_width = recipe.crop_width;
    model_ = load_model(resized);
    runner_ = std::make_unique<Runner>(model_, recipe);
    runner_->prepare(read_image(folder / image));
  }

  void expect_stage(const std::string& name, ConstMatrixView got) {
    const auto found = expected_.find(name);
    ASSERT_NE(found, expected_.end()) << "no reference for " << name;
    test::expect_near(test::numbers_of(got), found->second.values, kStage, name);
    compared_.insert(name);
  }

  const Attention& attention(size_t layer) const {
    return model_.encoder.blocks[layer].attention.front().attention;
  }
  size_t layers() const { return model_.encoder.blocks.size(); }

  void expect_stages();
  void expect_rotary_tables();
  void expect_relative_biases();
  void expect_positions();

  std::map<std::string, test::GoldenTensor> expected_;
  weights::Checkpoint checkpoint_;
  Model model_;
  std::unique_ptr<Runner> runner_;
  std::set<std::string> compared_;
};

/// What multiplies the values: the heads mixed once more after the softmax.
Matrix mixed(const TalkingHeads& talking, ConstMatrixView attention) {
  const size_t heads = talking.after.rows(), queries = attention.rows / heads;
  Matrix all(attention.rows, attention.cols);
  for (size_t g = 0; g < heads; ++g)
    for (size_t q = 0; q < queries; ++q)
      for (size_t k = 0; k < attention.cols; ++k) {
        double sum = double{talking.after_bias[g]};
        for (size_t h = 0; h < heads; ++h)
          sum += double{talking.after(g, h)} * double{attention(h * queries + q, k)};
        all(g * queries + q, k) = static_cast<float>(sum);
      }
  return all;
}

void Families::expect_stages() {
  ModelTaps taps;
  taps.pixels = [&](ConstMatrixView pixels) { expect_stage("pixels", pixels); };
  taps.tokens = [&](ConstMatrixView tokens) { expect_stage("tokens", tokens); };
  taps.encoder.attention = [&](size_t layer, ConstMatrixView weights) {
    expect_stage("attention." + std::to_string(layer), weights);
    const TalkingHeads& talking = attention(layer).talking;
    if (!talking.empty())
      expect_stage("attention_mixed." + std::to_string(layer), mixed(talking, weights));
  };
  taps.encoder.block = [&](size_t layer, ConstMatrixView tokens) {
    expect_stage("block." + std::to_string(layer), tokens);
  };
  taps.class_layer = [&](size_t layer, ConstMatrixView weights, ConstMatrixView token) {
    expect_stage("class_attention." + std::to_string(layer), weights);
    expect_stage("class_block." + std::to_string(layer), token);
  };
  const std::span<const float> output = runner_->logits(&taps);
  expect_stage("logits", {output.data(), 1, output.size()});
  const std::vector<float> pooled = runner_->features(FeatureKind::kPooled);
  expect_stage("pooled", {pooled.data(), 1, pooled.size()});
}

/// The tables of one head, as the reference spells them: an angle for each number of a head.
Matrix spelt_out(const Rotary& rotary, const Matrix& table, size_t first, size_t patches) {
  Matrix all(patches, rotary.head_width);
  for (size_t i = 0; i < patches; ++i)
    for (size_t e = 0; e < rotary.head_width; ++e) {
      const float value = table(first + i, rotary.split_halves ? e % table.cols() : e);
      // Neighbours: the sine of the first of a pair is stored negated.
      const bool negated = &table == &rotary.sines && !rotary.split_halves && e % 2 == 0;
      all(i, e) = negated ? -value : value;
    }
  return all;
}

void Families::expect_rotary_tables() {
  for (size_t layer = 0; layer < layers(); ++layer) {
    const Rotary* rotary = attention(layer).rotary.get();
    if (rotary == nullptr) continue;
    const std::string of_layer = rotary->heads == 1 ? "" : "." + std::to_string(layer);
    const size_t patches = rotary->cosines.rows() / rotary->heads;
    expect_stage("rope.sin" + of_layer,
                 spelt_out(*rotary, rotary->sines, 0, rotary->heads * patches));
    expect_stage("rope.cos" + of_layer,
                 spelt_out(*rotary, rotary->cosines, 0, rotary->heads * patches));
  }
}

/// What is added to the score of each pair of tokens: [heads·T, T].
Matrix spelt_out(const OffsetBias& bias) {
  const size_t tokens = bias.tokens(), heads = bias.offsets.rows();
  const auto [rows, cols] = bias.grid;
  Matrix all(heads * tokens, tokens);
  for (size_t h = 0; h < heads; ++h)
    for (size_t q = 0; q < tokens; ++q)
      for (size_t k = 0; k < tokens; ++k) {
        float& value = all(h * tokens + q, k);
        if (q < bias.prefix || k < bias.prefix) {
          value = bias.of_prefix(h, q >= bias.prefix ? 1 : k >= bias.prefix ? 0 : 2);
          continue;
        }
        const size_t a = q - bias.prefix, b = k - bias.prefix;
        value = bias.offsets(
            h, (b / cols + rows - 1 - a / cols) * (2 * cols - 1) + b % cols + cols - 1 - a % cols);
      }
  return all;
}

void Families::expect_relative_biases() {
  for (size_t layer = 0; layer < layers(); ++layer) {
    const OffsetBias* bias = attention(layer).offsets.get();
    if (bias == nullptr) continue;
    const std::string number = std::to_string(layer);
    expect_stage(expected_.contains("bias") ? "bias" : "bias." + number, spelt_out(*bias));
    if (!expected_.contains("bias_table." + number)) continue;
    const Matrix stored =
        WeightScope(checkpoint_, active_isa()).matrix("blocks." + number + ".attn.rel_pos.table");
    expect_stage("bias_table." + number,
                 resample_bias_table(checkpoint_.config.encoder.relative_bias, stored, bias->grid));
  }
}

/// The table as it was resampled, with the rows of the prefix tokens that it has.
void Families::expect_positions() {
  if (!expected_.contains("positions")) return;
  const ModelConfig& config = model_.config;
  expect_stage("positions", patch::positions_for(config.embedding, config.encoder.width,
                                                 stored_positions(checkpoint_)));
}

TEST_P(Families, EveryStageMatches) {
  expect_stages();
  expect_rotary_tables();
  expect_relative_biases();
  expect_positions();
  for (const auto& [name, tensor] : expected_)
    EXPECT_TRUE(compared_.contains(name)) << name << " was not compared";
}

TEST_P(Families, TheAnswerIsTheSameWithAndWithoutTapsAndWorkers) {
  test::expect_same_answer(*runner_);
}

INSTANTIATE_TEST_SUITE_P(
    Timm, Families,
    ::testing::Values(
        FamilyCase{"eva02_small"}, FamilyCase{"eva02_small", 70, 42}, FamilyCase{"eva02_base"},
        FamilyCase{"eva02_clip"}, FamilyCase{"eva02_clip", 80, 48},
        FamilyCase{"eva02_clip_postnorm"}, FamilyCase{"eva_giant"}, FamilyCase{"eva_giant", 70, 42},
        FamilyCase{"dinov3_small"}, FamilyCase{"dinov3_small", 80, 48}, FamilyCase{"dinov3_qkvb"},
        FamilyCase{"dinov3_plus"}, FamilyCase{"dinov3_plus", 80, 48}, FamilyCase{"rope_axial"},
        FamilyCase{"rope_axial", 80, 48}, FamilyCase{"rope_ape"}, FamilyCase{"rope_ape", 80, 48},
        FamilyCase{"rope_mixed"}, FamilyCase{"rope_mixed", 80, 48}, FamilyCase{"rope_reg1_gap"},
        FamilyCase{"rope_reg1_gap", 80, 48}, FamilyCase{"pe_core"}, FamilyCase{"pe_core", 80, 48},
        FamilyCase{"pe_spatial"}, FamilyCase{"pe_spatial", 80, 48}, FamilyCase{"pe_lang"},
        FamilyCase{"beit"}, FamilyCase{"beit", 96, 80}, FamilyCase{"beit", 80, 48},
        FamilyCase{"beitv2"}, FamilyCase{"cait"}, FamilyCase{"relpos_mlp"},
        FamilyCase{"relpos_mlp", 80, 48}, FamilyCase{"relpos_cls"}, FamilyCase{"relpos_bias_table"},
        FamilyCase{"relpos_rpn"}, FamilyCase{"srelpos"}, FamilyCase{"srelpos", 80, 48},
        FamilyCase{"naflex_gap"}, FamilyCase{"naflex_gap", 80, 48},
        FamilyCase{"naflex_gap", 64, 96, 24}, FamilyCase{"naflex_gap", 80, 112, 35},
        FamilyCase{"naflex_par_gap"}, FamilyCase{"naflex_par_gap", 64, 96, 24},
        FamilyCase{"naflex_parfac_gap"}, FamilyCase{"naflex_parfac_gap", 64, 96, 24},
        FamilyCase{"naflex_map"}, FamilyCase{"naflex_map", 64, 96, 24}, FamilyCase{"naflex_siglip"},
        FamilyCase{"naflex_siglip", 64, 96, 24}),
    name_of);

INSTANTIATE_TEST_SUITE_P(Transformers, Families,
                         ::testing::Values(FamilyCase{"hf_dinov3"}, FamilyCase{"hf_dinov3", 80, 48},
                                           FamilyCase{"hf_dinov3_gated"}, FamilyCase{"hf_beit"},
                                           FamilyCase{"hf_beit", 96, 80},
                                           FamilyCase{"hf_beit_new_names"},
                                           FamilyCase{"hf_data2vec_vision"},
                                           FamilyCase{.folder = "hf_dinov3", .variant = "pillow"}),
                         name_of);

TEST(FamiliesWithoutAName, AreNamedInRefusals) {
  const auto path = test::goldens() / "families" / "original_cait" / "XXS24_224.pth";
  const Model model = load_model(weights::open(path));
  try {
    Runner(model, Recipe{}, {.merge_tokens = 1});
    FAIL() << "merged tokens under talking heads";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "this model: tokens cannot be merged, because talking heads take no sizes of "
                 "merged tokens; run it without merging");
  }
}

TEST(FamiliesOfOtherBlocks, RefuseToMergeTokens) {
  const Model model = load_model(weights::open(test::goldens() / "families/eva02_clip_postnorm"));
  try {
    Runner(model, Recipe{}, {.merge_tokens = 1});
    FAIL() << "merged tokens of blocks with norms at their ends";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "eva02_enormous_patch14_clip_224: tokens cannot be merged, because its blocks are "
                 "residual-post-norm, expected pre-norm blocks of one branch; run it without "
                 "merging");
  }
}

FamilyCase original(const std::string& folder, const std::string& file, size_t edge,
                    size_t heads = 0) {
  return {.folder = folder, .file = file, .edge = edge, .heads = heads};
}

INSTANTIATE_TEST_SUITE_P(Authors, Families,
                         ::testing::Values(original("original_dinov3", "dinov3.pth", 64),
                                           FamilyCase{.folder = "original_dinov3",
                                                      .file = "dinov3.pth",
                                                      .edge = 64,
                                                      .variant = "f32_periods"},
                                           original("original_eva02", "eva02.pt", 56),
                                           original("original_pe_core", "PE-Core.pt", 64, 2),
                                           original("original_cait", "XXS24_224.pth", 64),
                                           original("original_rope_mixed", "rope_mixed.pth", 64,
                                                    2)),
                         name_of);

}  // namespace
}  // namespace vit
