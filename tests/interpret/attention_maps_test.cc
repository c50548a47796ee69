// Captured matrices against reference results, and disabled heads against a model without them.
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
  Runner runner = classifier.runner();
  runner.prepare(read_image(folder / "image.png"));
  return capture(runner);
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

void fill_pixels(Runner& runner) {
  const Matrix pixels = test::random_matrix(3, runner.pixels().cols, 7);
  std::copy_n(pixels.data(), pixels.size(), runner.pixels().data);
}

/// Undoes the merging layer by layer.
TEST(AttentionMaps, AMergedTokenAttendsAsOneAndSharesTheAttentionItReceives) {
  const ModelConfig config = test::small_config();
  const Model model = load_model(test::random_checkpoint(config));
  Runner runner(model, Recipe{}, {.merge_tokens = 3});
  fill_pixels(runner);
  const AttentionMaps maps = capture(runner);

  std::vector<Matrix> raw;
  std::vector<std::vector<std::uint32_t>> sources(1);
  for (std::uint32_t t = 0; t < 17; ++t) sources[0].push_back(t);
  ModelTaps taps;
  taps.encoder.attention = [&](size_t, ConstMatrixView attention) {
    raw.emplace_back(attention.rows, attention.cols);
    for (size_t r = 0; r < attention.rows; ++r)
      std::copy_n(attention.row(r), attention.cols, raw.back().view().row(r));
  };
  taps.encoder.merged = [&](size_t, const MergedTokens& merged) {
    sources.push_back(merged.sources);
  };
  const std::span<const float> output = runner.logits(&taps);
  EXPECT_EQ(std::vector<float>(output.begin(), output.end()), maps.output);

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

TEST(AttentionMaps, ClassLayersReadMergedTokens) {
  ModelConfig config = test::small_config();
  config.embedding.prefix = {};
  config.head.class_layers = 2;
  config.head.class_mlp_width = 24;
  const Model model = load_model(test::random_checkpoint(config));
  Runner runner(model, Recipe{}, {.merge_tokens = 3});
  fill_pixels(runner);
  const AttentionMaps maps = capture(runner);

  std::vector<double> patches;  // of each head: the mean over the layers of what patches receive
  ModelTaps taps;
  taps.class_layer = [&](size_t, ConstMatrixView attention, ConstMatrixView) {
    EXPECT_EQ(attention.cols, 1u + 16u - 3u * 3u);
    patches.resize(attention.rows);
    for (size_t r = 0; r < attention.rows; ++r) patches[r] += (1.0 - attention(r, 0)) / 2.0;
  };
  runner.logits(&taps);
  ASSERT_EQ(maps.pooling.rows(), patches.size());
  ASSERT_EQ(maps.pooling.cols(), 16u);
  for (size_t r = 0; r < patches.size(); ++r) {
    const auto row = maps.pooling.view().row_span(r);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), patches[r], 1e-5);
  }
}

std::vector<float> answer_of(const Model& model, const std::vector<HeadId>& disabled = {}) {
  Runner runner(model, Recipe{}, {.disabled_heads = disabled});
  fill_pixels(runner);
  const std::span<const float> output = runner.logits();
  return {output.begin(), output.end()};
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

TEST(DisabledHeads, EqualAModelWhoseHeadHasNoValues) {
  const ModelConfig config = test::small_config();
  const Model model = load_model(test::random_checkpoint(config));
  const std::vector<float> whole = answer_of(model);
  for (size_t head = 0; head < config.encoder.heads; ++head) {
    const std::vector<float> got = answer_of(model, {{1, head}});
    const auto want = answer_of(load_model(without_values(config, "blocks.1.attn", head)));
    double change = 0.0;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], 1e-4) << head;
      change = std::max(change, std::abs(double{got[i]} - double{whole[i]}));
    }
    EXPECT_GT(change, 1e-3) << "the head has no effect, so the test shows nothing";
  }
}

TEST(DisabledHeads, AreCountedThroughParallelBranches) {
  const ModelConfig config = test::small_config({.branches = 2});
  const Model model = load_model(test::random_checkpoint(config));
  const std::vector<float> got = answer_of(model, {{1, 4}});
  const auto lacking = without_values(config, "blocks.1.branches.1.attn", 1);
  const std::vector<float> want = answer_of(load_model(lacking));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-4);
}

TEST(DisabledHeads, OfAClassifierMustExist) {
  const fs::path folder = test::goldens() / "timm_vit";
  try {
    Classifier::load(folder, {.disabled_heads = {{1, 3}}});
    FAIL() << "accepted a head that is not there";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "head 1:3 cannot be disabled: the model has layers 0 to 1 with heads 0 to 2");
  }
  const Image image = read_image(folder / "image.png");
  EXPECT_NE(Classifier::load(folder, {.disabled_heads = {{1, 2}}}).logits({&image, 1}),
            Classifier::load(folder).logits({&image, 1}));
}

}  // namespace
}  // namespace vit::interpret
