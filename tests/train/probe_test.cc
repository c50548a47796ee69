#include "vit/train/probe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/message_of.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "tests/support/small_config.h"
#include "vit/base/random.h"
#include "vit/model/load.h"
#include "vit/model/runner.h"
#include "vit/train/initialize.h"
#include "vit/train/lbfgs.h"
#include "vit/train/set_head.h"

namespace vit::train {
namespace {

TEST(Lbfgs, FindsTheBottomOfAnIllConditionedBowl) {
  const auto bowl = [](const std::vector<double>& x, std::vector<double>& gradient) {
    double value = 0.0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double steep = std::pow(10.0, static_cast<double>(i)), off = x[i] - 3.0;
      value += 0.5 * steep * off * off;
      gradient[i] = steep * off;
    }
    return value;
  };
  std::vector<double> x(5);
  minimize(bowl, 200, x);
  // It stops when the gradient, at first 3e4, is below 0.3: along the flattest direction the result
  // may be off by that.
  for (const double value : x) EXPECT_NEAR(value, 3.0, 0.3);
}

/// Four clouds of points with names, far from the origin.
struct Clouds {
  Matrix features = test::random_matrix(400, 6, 3);
  std::vector<size_t> labels;

  Clouds() {
    for (size_t r = 0; r < features.rows(); ++r) {
      labels.push_back(r % 4);
      features(r, 0) += 50.0f + (r % 2 == 0 ? 3.0f : -3.0f);
      features(r, 1) += r % 4 < 2 ? 3.0f : -3.0f;
    }
  }
  Labelled view() const { return {features, labels, 4}; }
};

TEST(Probe, SeparatesWhatCanBeSeparated) {
  const Clouds clouds;
  ThreadPool pool(2);
  const Logistic logistic = fit_logistic(clouds.view(), {}, pool);
  EXPECT_GT(accuracy_of(logistic, clouds.view()), 0.98);
  EXPECT_GT(logistic.held_out_accuracy, 0.95);
  // These columns only tell two of the four clouds from the others: at most half are right.
  const Labelled half{clouds.features.view().col_range(1, 5), clouds.labels, 4};
  EXPECT_LT(fit_logistic(half, {}, pool).held_out_accuracy, 0.7);
}

TEST(Probe, ReadsMoreThanTheFirstFeaturesOnlyWhereThatIsBetter) {
  Clouds clouds;  // column 0 separates them two by two, column 1 the rest
  ThreadPool pool(2);
  const auto first = [&](size_t count) { return clouds.features.view().col_range(0, count); };
  EXPECT_EQ(fit_better_logistic(clouds.view(), first(1), {}, pool).weight.cols(), 6u);
  EXPECT_EQ(fit_better_logistic(clouds.view(), first(6), {}, pool).weight.cols(), 6u);
  for (size_t& label : clouds.labels) label %= 2;
  const Labelled two{clouds.features, clouds.labels, 2};
  EXPECT_EQ(fit_better_logistic(two, first(1), {}, pool).weight.cols(), 1u)
      << "no better by five more";
}

TEST(Probe, CutsNoMarginOffSmallImages) {
  const auto sample = [](size_t width, size_t height) {
    return data::Sample{{width, height, std::vector<std::uint8_t>(width * height * 3)}, 0};
  };
  Recipe usual;
  usual.resize_height = usual.resize_width = 256;
  usual.crop_height = usual.crop_width = 224;
  const std::vector<data::Sample> small{sample(32, 32), sample(200, 100)};
  Recipe recipe = usual;
  EXPECT_TRUE(keep_margins(small, recipe));
  EXPECT_EQ(recipe.resize_height, 224u);
  EXPECT_EQ(recipe.resize_width, 224u);
  EXPECT_EQ(recipe.crop_fraction, 1.0);
  EXPECT_FALSE(keep_margins(small, recipe)) << "nothing is cut any more";
  recipe = usual;
  EXPECT_FALSE(keep_margins(std::vector<data::Sample>{sample(32, 32), sample(640, 100)}, recipe));
  EXPECT_EQ(recipe.resize_height, 256u);
}

TEST(Probe, IsTheSameOnAnyNumberOfWorkers) {
  const Clouds clouds;
  ThreadPool one(1), three(3);
  const Logistic a = fit_logistic(clouds.view(), {}, one);
  const Logistic b = fit_logistic(clouds.view(), {}, three);
  EXPECT_EQ(a.bias, b.bias);
}

/// Logits that are `factor` times those that fit noisy labels best.
struct NoisyAnswers {
  Matrix logits{2000, 3};
  std::vector<size_t> labels;

  explicit NoisyAnswers(float factor) {
    for (size_t r = 0; r < logits.rows(); ++r) {
      Random random({r});
      double total = 0.0, p[3];
      for (size_t c = 0; c < 3; ++c) {
        const double logit = 1.5 * random.normal();
        logits(r, c) = factor * static_cast<float>(logit);
        total += p[c] = std::exp(logit);
      }
      const double draw = total * random.uniform();
      labels.push_back(draw < p[0] ? 0 : draw < p[0] + p[1] ? 1 : 2);
    }
  }
};

TEST(Probe, TheTemperatureUndoesAFactorOnTheLogits) {
  for (const float factor : {0.25f, 1.0f, 5.0f}) {
    const NoisyAnswers answers(factor);
    EXPECT_NEAR(fit_temperature(answers.logits, answers.labels), factor, 0.1 * factor);
  }
}

TEST(Probe, AFewRightAnswersAreNoProofOfCertainty) {
  Matrix logits(10, 2);
  for (size_t r = 0; r < 10; ++r) logits(r, 0) = 1.0f;
  const double temperature = fit_temperature(logits, std::vector<size_t>(10, 0));
  const double sure = 1.0 / (1.0 + std::exp(-1.0 / temperature));
  EXPECT_GT(sure, 0.9);
  EXPECT_LT(sure, 0.99);
}

TEST(Probe, CrossValidationAnswersEverySampleByAClassifierThatDidNotSeeIt) {
  Clouds clouds;
  for (size_t r = 0; r < 40; ++r) clouds.labels[r] = (clouds.labels[r] + 1) % 4;  // wrong ones
  ThreadPool pool(2);
  const CrossValidation found = cross_validate(clouds.view(), 1e-3, 5, {}, pool);
  ASSERT_EQ(found.accuracies.size(), 5u);
  EXPECT_EQ(found.logits.rows(), 400u);
  double mean = 0.0;
  for (const double accuracy : found.accuracies) mean += accuracy / 5.0;
  EXPECT_NEAR(mean, 0.9, 0.04) << "the wrong labels cannot be foreseen";
}

TEST(Probe, BalancedClassesCountTheSame) {
  // One cloud: the classes differ only in how many samples they have.
  const Matrix features = test::random_matrix(300, 3, 3);
  std::vector<size_t> labels(300);
  for (size_t i = 0; i < 30; ++i) labels[i * 10] = 1;
  ThreadPool pool(1);
  const auto probability = [&](bool balanced) {
    const Logistic l =
        fit_logistic({features, labels, 2}, {.decays = {1.0}, .balanced = balanced}, pool);
    return 1.0 / (1.0 + std::exp(double{l.bias[0]} - double{l.bias[1]}));
  };
  EXPECT_NEAR(probability(false), 0.1, 0.05);
  EXPECT_NEAR(probability(true), 0.5, 0.05);
}

ModelConfig tiny(bool distilled) {
  ModelConfig c = test::small_config(
      {.grid = {2, 2}, .width = 16, .depth = 2, .heads = 2, .mlp_width = 32, .classes = 7});
  if (distilled) {
    c.embedding.prefix = {PrefixToken::kClass, PrefixToken::kDistillation};
    c.head.distilled_head = true;
  }
  return c;
}

TEST(Probe, ReadsTheLastLayersOfAnyModelWithATokenPerPatch) {
  const auto head_of = [](const std::function<void(ModelConfig&)>& change) {
    ModelConfig c = tiny(false);
    change(c);
    c.head = head_of_last_layers(2, c);
    validate(c, "probe");
    return c.head;
  };
  const HeadConfig plain = head_of([](ModelConfig&) {});
  EXPECT_EQ(plain.pooling, Pooling::kClassAndMean);
  EXPECT_EQ(plain.pooled_layers, 2u);
  EXPECT_EQ(plain.classes, 0u) << "the old classifier does not fit";
  const HeadConfig map = head_of([](ModelConfig& c) {
    c.embedding.prefix.clear();
    c.head.pooling = Pooling::kAttention;
    c.head.pool_prefix = true;
    c.head.pre_logits = 3;
  });
  EXPECT_EQ(map.pooling, Pooling::kMean);
  EXPECT_EQ(map.pre_logits, 0u);
  EXPECT_FALSE(map.pool_prefix);
  EXPECT_EQ(head_of([](ModelConfig& c) { c = tiny(true); }).pooling, Pooling::kClassAndMean)
      << "without its distillation token's classifier";
  const HeadConfig normed = head_of([](ModelConfig& c) {
    c.head.pooling = Pooling::kMean;
    c.head.final_norm = false;
    c.head.pooled_norm = true;
  });
  EXPECT_EQ(normed.pooling, Pooling::kMean) << "what its norm is for";
  EXPECT_TRUE(normed.pooled_norm);
}

TEST(Probe, RefusesLayersThatTheModelHasNot) {
  const auto message = [](size_t layers, size_t class_layers) {
    ModelConfig c = tiny(false);
    c.architecture = "m";
    c.head.class_layers = class_layers;
    return test::message_of([&] { head_of_last_layers(layers, c); });
  };
  EXPECT_EQ(message(3, 0), "m: cannot read the last 3 layers, the model has 2; choose 1 to 2");
  EXPECT_EQ(message(2, 2),
            "m: cannot read several layers, because the class token passes through the last 2 only "
            "(class layers); choose another model or one layer");
}

TEST(Probe, ClassTokensAreThoseOfEachLayer) {
  Matrix features(2, 8);  // two layers of a class token and a mean, two numbers each
  for (size_t i = 0; i < 16; ++i) features.data()[i] = static_cast<float>(i);
  const Matrix tokens = class_tokens_of(features, 2);
  ASSERT_EQ(tokens.cols(), 4u);
  for (const size_t r : {0, 1}) {
    const auto row = tokens.view().row_span(r);
    const auto first = static_cast<float>(8 * r);
    EXPECT_EQ(std::vector<float>(row.begin(), row.end()),
              (std::vector<float>{first, first + 1, first + 4, first + 5}));
  }
}

data::Sample random_sample() {
  data::Sample sample{{16, 16, std::vector<std::uint8_t>(16 * 16 * 3)}, 0};
  Random random({1});
  for (auto& value : sample.image.pixels) value = static_cast<std::uint8_t>(random.below(256));
  return sample;
}

/// What the classifier makes of the sample's features.
std::vector<double> logits_on_features(const Model& model, const Recipe& recipe,
                                       const data::Sample& sample, const Logistic& logistic) {
  ThreadPool pool(1);
  const Matrix features = compute_features(model, recipe, std::span(&sample, 1), pool);
  std::vector<double> logits(logistic.bias.begin(), logistic.bias.end());
  for (size_t c = 0; c < logits.size(); ++c)
    for (size_t i = 0; i < logistic.weight.cols(); ++i)
      logits[c] += logistic.weight(c, i) * features(0, i);
  return logits;
}

Logistic random_logistic(size_t inputs) {
  return {test::random_matrix(3, inputs, 5), {0.1f, 0.2f, 0.3f}};
}

/// The logits of the probe on features are those of the model with the new head.
TEST(Probe, TheHeadOnFeaturesIsTheModelOnImages) {
  for (const bool distilled : {false, true})
    for (const size_t layers : {1, 2}) {
      weights::Checkpoint checkpoint = test::random_checkpoint(tiny(distilled));
      std::optional<HeadConfig> head;
      if (layers > 1) head = head_of_last_layers(layers, checkpoint.config);
      auto network = with_new_head(gradient::load_network<float>(checkpoint, head), 3, 1);
      const Model model = load_model(checkpoint, {.head = head});
      const data::Sample sample = random_sample();
      const Logistic logistic = random_logistic(model.config.classifier_inputs());
      const auto expected = logits_on_features(model, checkpoint.recipe, sample, logistic);
      set_head(logistic, network);
      Runner runner(model, checkpoint.recipe);
      runner.logits(sample.image);
      gradient::Trace<float> trace;
      const ConstMatrixView logits =
          gradient::forward<float>(network, {.patches = runner.patches(), .images = 1}, trace);
      set_head(logistic, head.value_or(checkpoint.config.head), checkpoint);
      const Model probed = load_model(checkpoint);
      Runner probe(probed, checkpoint.recipe);
      const std::span<const float> answer = probe.logits(sample.image);
      ASSERT_EQ(answer.size(), 3u);
      for (size_t c = 0; c < 3; ++c) {
        const std::string what =
            std::string(distilled ? "distilled, " : "plain, ") + std::to_string(layers) + " layers";
        EXPECT_NEAR(logits(0, c), expected[c], 1e-4) << what;
        EXPECT_NEAR(answer[c], expected[c], 1e-4) << what;
      }
    }
}

TEST(Probe, ANewHeadOfACheckpointLeavesNothingOfTheOldOne) {
  ModelConfig config = tiny(false);
  config.head.pre_logits = 5;
  config.head.multi_label = true;
  config.head.head_bias = false;
  weights::Checkpoint checkpoint = test::random_checkpoint(config);
  const HeadConfig head = head_of_last_layers(2, config);
  set_head(random_logistic(4 * 16), head, checkpoint);
  EXPECT_EQ(checkpoint.config.head.classes, 3u);
  EXPECT_FALSE(checkpoint.config.head.multi_label);
  EXPECT_EQ(checkpoint.find("pre_logits.weight"), nullptr);
  EXPECT_EQ(checkpoint.at("head.weight").shape(), (weights::Shape{3, 4 * 16}));
  EXPECT_EQ(checkpoint.at("head.bias").shape(), weights::Shape{3});
  load_model(checkpoint);
}

}  // namespace
}  // namespace vit::train
