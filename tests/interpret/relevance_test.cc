#include "vit/interpret/relevance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "tests/support/message_of.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "tests/support/small_config.h"
#include "vit/base/error.h"

namespace vit::interpret {
namespace {

ModelConfig tiny_config() {
  return test::small_config(
      {.patch = 4, .width = 12, .depth = 2, .heads = 2, .mlp_width = 24, .classes = 3});
}

double log_probability(const gradient::Network<double>& network, const Matrix& patches,
                       size_t target) {
  gradient::GrowingMatrix<double> numbers(patches.rows(), patches.cols());
  for (size_t r = 0; r < patches.rows(); ++r)
    for (size_t c = 0; c < patches.cols(); ++c) numbers.view()(r, c) = patches(r, c);
  gradient::Trace<double> trace;
  const auto logits =
      gradient::forward<double>(network, {.patches = numbers, .images = 1, .paths = {}}, trace);
  if (network.config.head.multi_label) return -std::log1p(std::exp(-logits(0, target)));
  double sum = 0.0;
  for (size_t i = 0; i < logits.cols; ++i) sum += std::exp(logits(0, i));
  return logits(0, target) - std::log(sum);
}

/// The network with the values of one head scaled, which scales its output.
gradient::Network<double> with_scaled_head(const weights::Checkpoint& checkpoint, HeadId id,
                                           double factor) {
  auto network = gradient::load_network<double>(checkpoint);
  const ModelConfig& c = network.config;
  const std::string prefix = "blocks." + std::to_string(id.layer) + ".attn.qkv.";
  const size_t row = 2 * c.encoder.width + id.head * c.encoder.head_width();
  for (const std::string name : {"weight", "bias"}) {
    const gradient::Slot& slot = *network.layout.find(prefix + name);
    const size_t per_row = slot.size() / (3 * c.encoder.width);
    for (size_t i = 0; i < c.encoder.head_width() * per_row; ++i)
      network.numbers[slot.offset + row * per_row + i] *= factor;
  }
  return network;
}

void expect_estimates_equal_central_differences(bool multi_label) {
  ModelConfig config = tiny_config();
  config.head.multi_label = multi_label;
  const auto checkpoint = test::random_checkpoint(config);
  const auto network = gradient::load_network<float>(checkpoint);
  const Matrix patches = test::random_matrix(16, 48, 3);
  Explanation explanation(network, patches);
  for (size_t target = 0; target < 3; ++target) {
    const auto effects = explanation.head_estimates(target);
    ASSERT_EQ(effects.size(), 4u);
    for (size_t i = 0; i < effects.size(); ++i) {
      const HeadId id{i / 2, i % 2};
      constexpr double kStep = 1e-4;
      const double more =
          log_probability(with_scaled_head(checkpoint, id, 1.0 + kStep), patches, target);
      const double less =
          log_probability(with_scaled_head(checkpoint, id, 1.0 - kStep), patches, target);
      EXPECT_NEAR(effects[i], (more - less) / (2.0 * kStep), 1e-4) << target << " " << i;
    }
  }
}

TEST(Relevance, HeadEstimatesEqualCentralDifferences) {
  expect_estimates_equal_central_differences(false);
}

TEST(Relevance, HeadEstimatesOfIndependentClassesEqualCentralDifferences) {
  expect_estimates_equal_central_differences(true);
}

/// R <- R + mean(max(A · dY/dA, 0)) · R with whole matrices, from the first layer to the last.
std::vector<double> naive_relevance(const gradient::Network<double>& network, const Matrix& patches,
                                    size_t target, size_t query) {
  const size_t tokens = network.config.embedding.tokens(), heads = network.config.encoder.heads;
  gradient::GrowingMatrix<double> numbers(patches.rows(), patches.cols());
  for (size_t r = 0; r < patches.rows(); ++r)
    for (size_t c = 0; c < patches.cols(); ++c) numbers.view()(r, c) = patches(r, c);
  gradient::Trace<double> trace;
  gradient::forward<double>(network, {.patches = numbers, .images = 1, .paths = {}}, trace);
  std::vector<std::vector<double>> influence(network.config.encoder.depth,
                                             std::vector<double>(tokens * tokens));
  gradient::BackwardTaps<double> taps;
  taps.attention = [&](const gradient::AttentionTap<double>& tap) {
    for (size_t r = 0; r < heads * tokens; ++r)
      for (size_t c = 0; c < tokens; ++c)
        influence[tap.layer][r % tokens * tokens + c] +=
            std::max(tap.probabilities(r, c) * tap.gradient(r, c), 0.0) /
            static_cast<double>(heads);
  };
  gradient::GrowingMatrix<double> wanted(1, network.config.head.classes);
  wanted.fill(0.0);
  wanted.view()(0, target) = 1.0;
  gradient::backward<double>(network, trace, wanted, {}, &taps);

  std::vector<double> r(tokens * tokens);
  for (size_t i = 0; i < tokens; ++i) r[i * tokens + i] = 1.0;
  for (const auto& layer : influence) {
    std::vector<double> next = r;
    for (size_t i = 0; i < tokens; ++i)
      for (size_t k = 0; k < tokens; ++k)
        for (size_t j = 0; j < tokens; ++j)
          next[i * tokens + j] += layer[i * tokens + k] * r[k * tokens + j];
    r = next;
  }
  r[query * tokens + query] -= 1.0;
  return {r.begin() + static_cast<std::ptrdiff_t>(query * tokens),
          r.begin() + static_cast<std::ptrdiff_t>((query + 1) * tokens)};
}

TEST(Relevance, EqualsTheRecurrenceOnWholeMatricesInDoublePrecision) {
  const auto checkpoint = test::random_checkpoint(tiny_config());
  const auto network = gradient::load_network<float>(checkpoint);
  const Matrix patches = test::random_matrix(16, 48, 3);
  Explanation explanation(network, patches);
  for (size_t target = 0; target < 3; ++target) {
    const auto got = explanation.relevance(target, {.query = {.kind = QueryKind::kClass}});
    const auto want =
        naive_relevance(gradient::load_network<double>(checkpoint), patches, target, 0);
    const double largest = *std::max_element(want.begin(), want.end());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-4 * largest);
  }
}

/// [n, n] += max(A · dY/dA, 0) / heads, at rows and columns from `first` on.
void add_influence(const gradient::AttentionTap<double>& tap, size_t rows, size_t first,
                   std::vector<double>& to, size_t n) {
  const auto heads = static_cast<double>(tap.probabilities.rows / rows);
  for (size_t r = 0; r < tap.probabilities.rows; ++r)
    for (size_t c = 0; c < tap.probabilities.cols; ++c)
      to[(first + r % rows) * n + first + c] +=
          std::max(tap.probabilities(r, c) * tap.gradient(r, c), 0.0) / heads;
}

/// Class layers as layers of whole matrices over the class token and 16 patches, of which only the
/// class token reads.
TEST(Relevance, GoesThroughEveryClassLayer) {
  ModelConfig config = tiny_config();
  config.embedding.prefix = {};
  config.encoder.attention = AttentionKind::kTalkingHeads;
  config.head.class_layers = 2;
  config.head.class_mlp_width = 24;
  const auto checkpoint = test::random_checkpoint(config);
  const Matrix patches = test::random_matrix(16, 48, 3);
  const auto network = gradient::load_network<float>(checkpoint);
  const auto got =
      Explanation(network, patches).relevance(1, {.query = {.kind = QueryKind::kPool}});

  const auto exact = gradient::load_network<double>(checkpoint);
  gradient::GrowingMatrix<double> numbers(patches.rows(), patches.cols());
  for (size_t r = 0; r < patches.rows(); ++r)
    for (size_t c = 0; c < patches.cols(); ++c) numbers.view()(r, c) = patches(r, c);
  gradient::Trace<double> trace;
  gradient::forward<double>(exact, {.patches = numbers, .images = 1, .paths = {}}, trace);
  constexpr size_t n = 17;
  std::vector<std::vector<double>> influence(4, std::vector<double>(n * n));
  gradient::BackwardTaps<double> taps;
  taps.attention = [&](const auto& tap) { add_influence(tap, 16, 1, influence[tap.layer], n); };
  taps.pooling = [&](const auto& tap) { add_influence(tap, 1, 0, influence[2 + tap.layer], n); };
  gradient::GrowingMatrix<double> wanted(1, 3);
  wanted.fill(0.0);
  wanted.view()(0, 1) = 1.0;
  gradient::backward<double>(exact, trace, wanted, {}, &taps);

  std::vector<double> row(n);
  row[0] = 1.0;
  for (size_t layer = 4; layer-- > 0;) {
    const std::vector<double> before = row;
    for (size_t k = 0; k < n; ++k)
      for (size_t j = 0; j < n; ++j) row[j] += before[k] * influence[layer][k * n + j];
  }
  ASSERT_EQ(got.size(), 16u);
  const double largest = *std::max_element(row.begin() + 1, row.end());
  EXPECT_GT(largest, 0.0);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], row[1 + i], 1e-4 * largest);
}

TEST(Relevance, NamesTheClassesThereAre) {
  const auto network = gradient::load_network<float>(test::random_checkpoint(tiny_config()));
  const Matrix patches = test::random_matrix(16, 48, 3);
  try {
    Explanation(network, patches).relevance(3, {.query = {.kind = QueryKind::kClass}});
    FAIL() << "accepted a class that is not there";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "class 3: the model has classes 0 to 2");
  }
}

TEST(Relevance, SaysWhichLayersThereAre) {
  const auto network = gradient::load_network<float>(test::random_checkpoint(tiny_config()));
  const Matrix patches = test::random_matrix(16, 48, 3);
  Explanation explanation(network, patches);
  explanation.relevance(1, {.query = {.kind = QueryKind::kClass}, .first_layer = 1});
  EXPECT_EQ(test::message_of([&] {
              explanation.relevance(1, {.query = {.kind = QueryKind::kClass}, .first_layer = 2});
            }),
            "relevance from layer 2: the model has layers 0 to 1");
}

TEST(Relevance, StartsFromThePoolOfModelsThatHaveOne) {
  ModelConfig config = tiny_config();
  config.embedding.prefix = {};
  config.head.pooling = Pooling::kAttention;
  const auto network = gradient::load_network<float>(test::random_checkpoint(config));
  const Matrix patches = test::random_matrix(16, 48, 3);
  const auto tokens =
      Explanation(network, patches).relevance(1, {.query = {.kind = QueryKind::kPool}});
  ASSERT_EQ(tokens.size(), 16u);
  EXPECT_GT(*std::max_element(tokens.begin(), tokens.end()), 0.0f);
}

/// Images of noise in which one quadrant, anywhere, is of the class's colour.
struct QuadrantTask {
  std::mt19937 engine{11};
  size_t quadrant = 0;
  size_t target = 0;

  Matrix draw() {
    std::normal_distribution<float> noise(0.0f, 0.7f);
    quadrant = engine() % 4;
    target = engine() % 3;
    Matrix patches(16, 48);
    for (size_t i = 0; i < 16; ++i)
      for (size_t c = 0; c < 48; ++c)
        patches(i, c) = noise(engine) + (inside(i) && c / 16 == target ? 2.0f : 0.0f);
    return patches;
  }
  bool inside(size_t patch) const {
    return (patch / 4 >= 2 ? 2u : 0u) + (patch % 4 >= 2 ? 1u : 0u) == quadrant;
  }
};

/// Adam on cross-entropy, one image a step: enough for a task of this size.
void train(gradient::Network<float>& network, QuadrantTask& task, size_t steps) {
  std::vector<float> gradients(network.numbers.size());
  std::vector<double> first(gradients.size()), second(gradients.size());
  const gradient::NetworkView<float> view(network, {network.numbers, gradients});
  gradient::Trace<float> trace;
  for (size_t step = 1; step <= steps; ++step) {
    std::fill(gradients.begin(), gradients.end(), 0.0f);
    for (int image = 0; image < 4; ++image) {
      const Matrix patches = task.draw();
      const auto logits =
          gradient::forward<float>(view, {.patches = patches, .images = 1, .paths = {}}, trace);
      Matrix dlogits(1, logits.cols);
      double sum = 0.0;
      for (size_t i = 0; i < logits.cols; ++i) sum += std::exp(double{logits(0, i)});
      for (size_t i = 0; i < logits.cols; ++i)
        dlogits(0, i) = static_cast<float>(std::exp(double{logits(0, i)}) / sum -
                                           (i == task.target ? 1.0 : 0.0));
      gradient::backward<float>(view, trace, dlogits);
    }
    for (size_t i = 0; i < gradients.size(); ++i) {
      first[i] = 0.9 * first[i] + 0.1 * gradients[i];
      second[i] = 0.99 * second[i] + 0.01 * double{gradients[i]} * double{gradients[i]};
      const double unbiased_first = first[i] / (1.0 - std::pow(0.9, step));
      const double unbiased_second = second[i] / (1.0 - std::pow(0.99, step));
      network.numbers[i] -=
          static_cast<float>(3e-3 * unbiased_first / (std::sqrt(unbiased_second) + 1e-8));
    }
  }
}

TEST(Relevance, LiesInTheQuadrantThatDecidesTheClass) {
  auto network = gradient::load_network<float>(test::random_checkpoint(tiny_config()));
  QuadrantTask task;
  train(network, task, 400);
  size_t right = 0, found = 0;
  double share = 0.0;
  constexpr size_t kImages = 40;
  for (size_t i = 0; i < kImages; ++i) {
    const Matrix patches = task.draw();
    Explanation explanation(network, patches);
    const auto output = explanation.output();
    const auto best = static_cast<size_t>(
        std::distance(output.begin(), std::max_element(output.begin(), output.end())));
    if (best != task.target) continue;
    ++right;
    const auto tokens = explanation.relevance(task.target, {.query = {.kind = QueryKind::kClass}});
    double within = 0.0, all = 0.0;
    for (size_t p = 0; p < 16; ++p) {
      all += tokens[1 + p];
      if (task.inside(p)) within += tokens[1 + p];
    }
    share += within / all;
    if (within > 0.5 * all) ++found;
  }
  ASSERT_GE(right, kImages * 9 / 10) << "the model has not learned the task";
  // A quarter of the patches: chance would give it a quarter of the relevance.
  EXPECT_GT(share / static_cast<double>(right), 0.5);
  EXPECT_GE(found, right * 3 / 4);
}

}  // namespace
}  // namespace vit::interpret
