// Captured matrices against the reference results, and ablation against a model that really lacks
// the head.
#include "vit/interpret/attention_maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "patch/image/image.h"
#include "tests/interpret/synthetic.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "vit/base/error.h"
#include "vit/model/classifier.h"
#include "vit/model/load.h"

namespace vit::interpret {
namespace {

namespace fs = std::filesystem;

AttentionMaps capture_golden(const std::string& name) {
  const fs::path folder = test::goldens() / name;
  const Classifier classifier = Classifier::load(folder);
  ModelWorkspace workspace(classifier.model());
  patch::apply_recipe(patch::read_image(folder / "image.png"), classifier.recipe(),
                      workspace.recipe, workspace.pixels);
  return capture(classifier.model(), workspace);
}

TEST(AttentionMaps, EqualTheReferenceMatricesAndTheirRowsAddUpToOne) {
  for (const std::string name : {"timm_vit", "timm_nonsquare", "timm_deit_distilled",
                                 "timm_dinov2_registers", "timm_gap_registers", "hf_vit"}) {
    const AttentionMaps maps = capture_golden(name);
    const auto expected = test::read_golden(test::goldens() / name / "expected.safetensors");
    for (size_t layer = 0; layer < maps.layers; ++layer) {
      const auto& want = expected.at("attention." + std::to_string(layer));
      const ConstMatrixView got = maps.layer(layer);
      ASSERT_EQ(want.shape, (std::vector<size_t>{maps.heads, maps.tokens(), maps.tokens()}));
      for (size_t r = 0; r < got.rows; ++r) {
        const auto row = got.row_span(r);
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1.0, 1e-5);
        for (size_t c = 0; c < got.cols; ++c)
          ASSERT_NEAR(row[c], want.values[r * got.cols + c], 1e-5) << name;
      }
    }
  }
}

TEST(AttentionMaps, HoldThePoolsOwnAttentionWhereThereIsOne) {
  const AttentionMaps maps = capture_golden("timm_siglip_map");
  ASSERT_EQ(maps.pooling.rows(), maps.heads);
  ASSERT_EQ(maps.pooling.cols(), maps.tokens());
  for (size_t h = 0; h < maps.heads; ++h) {
    const auto row = maps.pooling.view().row_span(h);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1.0, 1e-5);
  }
  EXPECT_TRUE(capture_golden("timm_vit").pooling.empty());
}

/// Merging is undone by hand, layer by layer.
TEST(AttentionMaps, AMergedTokenLooksAsOneAndSharesWhatItReceives) {
  const ModelConfig config = test::small_config();
  const Model model = load_model(test::random_checkpoint(config));
  ModelWorkspace workspace(model, 3);
  const Matrix pixels = test::random_matrix(3, 32 * 32, 7);
  std::copy_n(pixels.data(), pixels.size(), workspace.pixels.data());
  const AttentionMaps maps = capture(model, workspace);

  std::vector<Matrix> raw;
  std::vector<std::vector<std::uint32_t>> sources(1);
  for (std::uint32_t t = 0; t < 17; ++t) sources[0].push_back(t);
  ModelTaps taps;
  taps.encoder.attention = [&](size_t, ConstMatrixView attention) {
    raw.emplace_back(attention.rows, attention.cols);
    for (size_t r = 0; r < attention.rows; ++r)
      std::copy_n(attention.row(r), attention.cols, raw.back().view().row(r));
    const auto now = workspace.merge->sources();
    sources.emplace_back(now.begin(), now.end());
  };
  std::vector<float> output(model.config.outputs());
  run(model, workspace, output, &taps);
  EXPECT_EQ(output, maps.output);

  ASSERT_EQ(raw.size(), 3u);
  EXPECT_EQ(raw[0].cols(), 17u);
  EXPECT_EQ(raw[2].cols(), 11u);
  for (size_t layer = 0; layer < 3; ++layer)
    for (size_t head = 0; head < 3; ++head)
      for (size_t query = 0; query < 17; ++query) {
        const auto row = maps.head(layer, head).row_span(query);
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1.0, 1e-5);
        for (size_t key = 0; key < 17; ++key) {
          const auto& own = sources[layer];
          const auto parts = std::ranges::count(own, own[key]);
          EXPECT_FLOAT_EQ(row[key], raw[layer](head * raw[layer].cols() + own[query], own[key]) /
                                        static_cast<float>(parts));
        }
      }
}

std::vector<float> answer_of(const Model& model, const ModelTaps* taps) {
  ModelWorkspace workspace(model);
  const Matrix pixels = test::random_matrix(3, 32 * 32, 7);
  std::copy_n(pixels.data(), pixels.size(), workspace.pixels.data());
  std::vector<float> output(model.config.outputs());
  run(model, workspace, output, taps);
  return output;
}

/// The checkpoint with the values of one head (weights and biases) at zero.
weights::Checkpoint without_values(const ModelConfig& config, const std::string& attention,
                                   size_t head) {
  weights::Checkpoint checkpoint = test::random_checkpoint(config);
  const size_t d = config.encoder.head_width(), first = 2 * config.encoder.width + head * d;
  for (const auto& [name, per_row] : {std::pair{attention + ".qkv.weight", config.encoder.width},
                                      {attention + ".qkv.bias", size_t{1}}}) {
    const weights::Weight& weight = checkpoint.at(name);
    // The tensors of a random checkpoint are its own, writable memory.
    auto values = std::make_shared<std::vector<float>>(weight.size());
    weight.read_rows(0, weight.rows(), values->data());
    std::fill_n(values->begin() + static_cast<std::ptrdiff_t>(first * per_row), d * per_row, 0.0f);
    const auto shape = weight.shape();
    checkpoint.add(name,
                   weights::Tensor{weights::DType::kF32, shape, weights::contiguous_strides(shape),
                                   reinterpret_cast<const std::byte*>(values->data())});
    checkpoint.keep(values);
  }
  return checkpoint;
}

TEST(Ablation, EqualsAModelWhoseHeadHasNoValues) {
  const ModelConfig config = test::small_config();
  const Model model = load_model(test::random_checkpoint(config));
  const std::vector<float> whole = answer_of(model, nullptr);
  for (size_t head = 0; head < config.encoder.heads; ++head) {
    ModelTaps taps;
    taps.encoder.silenced = {{}, {head}, {}};
    const std::vector<float> got = answer_of(model, &taps);
    const auto want = answer_of(load_model(without_values(config, "blocks.1.attn", head)), nullptr);
    double change = 0.0;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], 1e-4) << head;
      change = std::max(change, std::abs(double{got[i]} - double{whole[i]}));
    }
    EXPECT_GT(change, 1e-3) << "the head does nothing, the test shows nothing";
  }
}

TEST(Ablation, CountsHeadsThroughParallelBranches) {
  const ModelConfig config = test::small_config(2);
  const Model model = load_model(test::random_checkpoint(config));
  ModelTaps taps;
  taps.encoder.silenced = {{}, {4}, {}};
  const std::vector<float> got = answer_of(model, &taps);
  const auto lacking = without_values(config, "blocks.1.branches.1.attn", 1);
  const std::vector<float> want = answer_of(load_model(lacking), nullptr);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-4);
}

TEST(Ablation, OfAClassifierNamesTheHeadsThereAre) {
  const fs::path folder = test::goldens() / "timm_vit";
  try {
    Classifier::load(folder, {.ablate = {{1, 3}}});
    FAIL() << "accepted a head that is not there";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "head 1:3 cannot be ablated: the model has layers 0 to 1 with heads 0 to 2");
  }
  const Image image = read_image(folder / "image.png");
  EXPECT_NE(Classifier::load(folder, {.ablate = {{1, 2}}}).logits({&image, 1}),
            Classifier::load(folder).logits({&image, 1}));
}

}  // namespace
}  // namespace vit::interpret
