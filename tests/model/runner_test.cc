#include "vit/model/runner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/execution.h"
#include "tests/support/message_of.h"
#include "tests/support/paths.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "tests/support/small_config.h"
#include "vit/base/error.h"
#include "vit/model/load.h"

namespace vit {
namespace {

std::vector<float> copied(std::span<const float> numbers) {
  return {numbers.begin(), numbers.end()};
}

void fill_pixels(Runner& runner) {
  const Matrix pixels = test::random_matrix(3, runner.pixels().cols, 7);
  std::copy_n(pixels.data(), pixels.size(), runner.pixels().data);
}

/// A golden model as the classifier loads it.
struct Loaded {
  weights::Checkpoint checkpoint;
  Model model;
  Image image;

  explicit Loaded(const std::string& name)
      : checkpoint(weights::open(test::goldens() / name)),
        model(load_model(checkpoint)),
        image(read_image(test::goldens() / name / "image.png")) {}
};

TEST(Runner, AnImageGivesWhatItsPreparedPixelsGive) {
  const Loaded loaded("timm_vit");
  Runner direct(loaded.model, loaded.checkpoint.recipe),
      prepared = Runner(loaded.model, loaded.checkpoint.recipe);
  prepared.prepare(loaded.image);
  EXPECT_EQ(copied(direct.logits(loaded.image)), copied(prepared.logits()));
  const MatrixView tokens = direct.encode(loaded.image), same = prepared.encode();
  ASSERT_EQ(tokens.rows, loaded.model.config.embedding.tokens());
  for (size_t r = 0; r < tokens.rows; ++r)
    ASSERT_EQ(copied(tokens.row_span(r)), copied(same.row_span(r)));
}

TEST(Runner, EncodeReturnsWhatTheLastBlockTapSees) {
  const Loaded loaded("timm_deit_distilled");
  Runner runner(loaded.model, loaded.checkpoint.recipe);
  std::vector<std::vector<float>> rows;
  ModelTaps taps;
  taps.encoder.block = [&](size_t, ConstMatrixView tokens) {
    rows.clear();
    for (size_t r = 0; r < tokens.rows; ++r) rows.push_back(copied(tokens.row_span(r)));
  };
  runner.encode(loaded.image, &taps);
  const MatrixView tokens = runner.encode(loaded.image);
  ASSERT_EQ(tokens.rows, rows.size());
  for (size_t r = 0; r < tokens.rows; ++r) EXPECT_EQ(copied(tokens.row_span(r)), rows[r]);
}

TEST(Runner, PooledFeaturesAreTheOutputOfTheModelWithoutItsClassifier) {
  for (const char* name : {"timm_vit", "timm_deit_distilled", "timm_siglip_map",
                           "timm_gap_registers", "hf_dinov2", "timm_clip_quickgelu"}) {
    Loaded loaded(name);
    Runner runner(loaded.model, loaded.checkpoint.recipe);
    const auto features = runner.features(loaded.image, FeatureKind::kPooled);
    EXPECT_EQ(features.size(), feature_count(loaded.model.config, FeatureKind::kPooled));
    weights::Checkpoint headless = loaded.checkpoint;
    headless.config.head.classes = 0;
    const Model bare = load_model(headless);
    EXPECT_EQ(features, copied(Runner(bare, loaded.checkpoint.recipe).logits(loaded.image)))
        << name;
  }
}

TEST(Runner, ClassAndMeanAreBothKindsSideBySide) {
  const Loaded loaded("timm_vit");
  Runner runner(loaded.model, loaded.checkpoint.recipe);
  auto expected = runner.features(loaded.image, FeatureKind::kClass);
  const auto mean = runner.features(loaded.image, FeatureKind::kMean);
  expected.insert(expected.end(), mean.begin(), mean.end());
  EXPECT_EQ(runner.features(loaded.image, FeatureKind::kClassAndMean), expected);
}

TEST(Runner, MeanIsTheMeanOfThePatchesAlsoWhereTokensMerge) {
  const ModelConfig config = test::small_config();
  const Model model = load_model(test::random_checkpoint(config));
  for (const size_t merge : {0, 3}) {
    Runner runner(model, Recipe{}, {.merge_tokens = merge});
    fill_pixels(runner);
    const auto patches = runner.features(FeatureKind::kPatches);
    const auto mean = runner.features(FeatureKind::kMean);
    const size_t width = config.encoder.width, count = config.embedding.grid().count();
    ASSERT_EQ(patches.size(), count * width);
    for (size_t c = 0; c < width; ++c) {
      double sum = 0.0, magnitude = 0.0;
      for (size_t p = 0; p < count; ++p) {
        sum += patches[p * width + c];
        magnitude += std::abs(patches[p * width + c]);
      }
      EXPECT_NEAR(mean[c], sum / static_cast<double>(count),
                  magnitude * 0x1p-23)  // a rounding for each addition, at most
          << "merging " << merge;
    }
  }
}

TEST(Runner, RefusesFeaturesThatTheModelHasNot) {
  const Loaded loaded("timm_siglip_map");
  Runner runner(loaded.model, loaded.checkpoint.recipe);
  EXPECT_THROW(runner.features(loaded.image, FeatureKind::kClass), Error);
  EXPECT_THROW(runner.features(loaded.image, FeatureKind::kClassAndMean), Error);
  EXPECT_NO_THROW(runner.features(loaded.image, FeatureKind::kMean));
}

TEST(Runner, DisabledHeadsChangeEveryResultAndTapsChangeNone) {
  const ModelConfig config = test::small_config();
  const Model model = load_model(test::random_checkpoint(config));
  Runner whole(model, Recipe{}), without(model, Recipe{}, {.disabled_heads = {{1, 0}}});
  fill_pixels(whole);
  fill_pixels(without);
  EXPECT_NE(copied(whole.logits()), copied(without.logits()));
  EXPECT_NE(whole.features(FeatureKind::kMean), without.features(FeatureKind::kMean));
  ModelTaps taps;
  taps.encoder.attention = [](size_t, ConstMatrixView) {};
  taps.encoder.block = [](size_t, ConstMatrixView) {};
  for (Runner* runner : {&whole, &without})
    EXPECT_EQ(copied(runner->logits(&taps)), copied(runner->logits()));
}

/// The pooled features of the last layers, put together from the tokens that a tap sees.
std::vector<float> composed(Runner& runner) {
  const Model& model = runner.model();
  const size_t prefix = model.config.embedding.prefix.size(), width = model.config.encoder.width;
  std::vector<float> features;
  ModelTaps taps;
  std::vector<float> sizes;
  taps.encoder.merged = [&](size_t, const MergedTokens& merged) { sizes = merged.sizes; };
  taps.encoder.block = [&](size_t layer, ConstMatrixView tokens) {
    if (layer < model.config.first_pooled_layer()) return;
    Matrix normed(tokens.rows, tokens.cols);
    normalize(model.head.final_norm, tokens, normed, test::best_execution());
    const auto class_row = normed.view().row_span(0);
    features.insert(features.end(), class_row.begin(), class_row.end());
    if (model.config.head.pooling == Pooling::kClass) return;
    std::vector<float> mean(width);
    mean_of(normed.view().row_range(prefix, normed.rows() - prefix),
            sizes.empty() ? std::span<const float>() : std::span(sizes).subspan(prefix), mean);
    features.insert(features.end(), mean.begin(), mean.end());
  };
  runner.logits(&taps);
  return features;
}

TEST(Runner, AHeadReadsTheLastLayersSideBySide) {
  ModelConfig config = test::small_config({.depth = 4});
  for (const Pooling pooling : {Pooling::kClass, Pooling::kClassAndMean})
    for (const size_t layers : {1, 3, 4}) {
      config.head.pooling = pooling;
      config.head.pooled_layers = layers;
      const Model model = load_model(test::random_checkpoint(config));
      const RunOptions ways[] = {{}, {.merge_tokens = 3}, {.disabled_heads = {{2, 1}}}};
      for (const RunOptions& options : ways) {
        Runner runner(model, Recipe{}, options);
        fill_pixels(runner);
        const auto expected = composed(runner);
        EXPECT_EQ(expected.size(), layers * config.pooled_layer_width());
        // Without taps the last layer computes only the class token if no other token is read.
        EXPECT_EQ(runner.features(FeatureKind::kPooled), expected);
        ModelTaps taps;
        taps.encoder.block = [](size_t, ConstMatrixView) {};
        EXPECT_EQ(copied(runner.logits(&taps)), copied(runner.logits()));
        std::vector<float> logits(config.head.classes);
        apply(model.head.classifier, ConstMatrixView{expected.data(), 1, expected.size()},
              MatrixView{logits.data(), 1, logits.size()}, test::best_execution());
        EXPECT_EQ(copied(runner.logits()), logits);
        // Features of the last layer only keep their size.
        EXPECT_EQ(runner.features(FeatureKind::kClass).size(), config.encoder.width);
      }
    }
}

TEST(Runner, ARecordedPassGoesOnWithoutAHeadAsIfItHadNeverBeenThere) {
  for (const Pooling pooling : {Pooling::kClass, Pooling::kMean})
    for (const size_t layers : {1, 3})
      for (const size_t merge : {0, 3}) {
        ModelConfig config = test::small_config({.depth = 4});
        config.head.pooling = pooling;
        config.head.pooled_layers = layers;
        const Model model = load_model(test::random_checkpoint(config));
        Runner runner(model, Recipe{}, {.merge_tokens = merge, .disabled_heads = {{3, 0}}});
        fill_pixels(runner);
        ForwardRecord record;
        EXPECT_EQ(copied(runner.logits(record)), copied(runner.logits()));
        for (size_t layer = 0; layer < 4; ++layer)
          for (size_t head = 0; head < 3; ++head) {
            Runner without(model, Recipe{},
                           {.merge_tokens = merge, .disabled_heads = {{3, 0}, {layer, head}}});
            fill_pixels(without);
            EXPECT_EQ(copied(runner.resume_without({layer, head}, record)),
                      copied(without.logits()))
                << layer << ":" << head << ", " << layers << " layers, merging " << merge;
          }
        EXPECT_THROW(runner.resume_without({4, 0}, record), Error);
      }
}

TEST(Runner, EachLayerIsPooledWithTheNormOfTheLast) {
  ModelConfig config = test::small_config({.depth = 3});
  config.head.final_norm = false;
  config.head.pooled_norm = true;
  config.head.pooling = Pooling::kMean;
  config.head.pooled_layers = 2;
  config.head.classes = 0;
  const weights::Checkpoint checkpoint = test::random_checkpoint(config);
  const Model model = load_model(checkpoint);
  Runner runner(model, Recipe{});
  fill_pixels(runner);
  const auto features = copied(runner.logits());
  ASSERT_EQ(features.size(), 2 * config.encoder.width);
  weights::Checkpoint last = checkpoint;
  last.config.head.pooled_layers = 1;
  const Model ordinary = load_model(last);
  Runner other(ordinary, Recipe{});
  fill_pixels(other);
  EXPECT_EQ(copied(std::span(features).last(config.encoder.width)), copied(other.logits()));
  // The layer before is the last one of a model without the third block.
  last.config.encoder.depth = 2;
  const Model shorter = load_model(last);
  Runner before(shorter, Recipe{});
  fill_pixels(before);
  EXPECT_EQ(copied(std::span(features).first(config.encoder.width)), copied(before.logits()));
}

TEST(Features, MessagesAboutAModelWithoutANameHaveAPlace) {
  ModelConfig config;
  config.embedding.prefix.clear();
  EXPECT_EQ(test::message_of([&] { check_features(config, FeatureKind::kClass); }),
            "this model: has no class token; it has mean and patch features");
  config.architecture = "tiny";
  EXPECT_EQ(test::message_of([&] { check_features(config, FeatureKind::kClass); }),
            "tiny: has no class token; it has mean and patch features");
}

}  // namespace
}  // namespace vit
