#include "vit/interpret/rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/interpret/synthetic.h"
#include "vit/base/error.h"

namespace vit::interpret {
namespace {

using Rows = std::vector<std::vector<double>>;
using testing::ElementsAre;
using testing::FloatEq;

/// The definition, step by step: fuse, drop, normalise, add the identity, normalise, and
/// multiply whole matrices.
Rows naive_step(const AttentionMaps& maps, size_t layer, const RolloutOptions& options) {
  const size_t tokens = maps.tokens();
  Rows step(tokens, std::vector<double>(tokens));
  for (size_t i = 0; i < tokens; ++i) {
    for (size_t j = 0; j < tokens; ++j) {
      std::vector<double> heads;
      for (size_t h = 0; h < maps.heads; ++h) heads.push_back(maps.head(layer, h)(i, j));
      step[i][j] =
          options.fusion == HeadFusion::kMax ? *std::ranges::max_element(heads)
          : options.fusion == HeadFusion::kMin
              ? *std::ranges::min_element(heads)
              : std::accumulate(heads.begin(), heads.end(), 0.0) / static_cast<double>(maps.heads);
    }
    std::vector<size_t> order(maps.layout.grid.count());
    std::iota(order.begin(), order.end(), maps.layout.first_patch());
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return step[i][a] < step[i][b]; });
    const auto dropped =
        static_cast<size_t>(options.discard * static_cast<double>(maps.layout.grid.count()));
    for (size_t k = 0; k < dropped; ++k) step[i][order[k]] = 0.0;
    const double sum = std::accumulate(step[i].begin(), step[i].end(), 0.0);
    for (size_t j = 0; j < tokens; ++j)
      step[i][j] = (step[i][j] / sum + (i == j ? 1.0 : 0.0)) / 2.0;
  }
  return step;
}

Rows product(const Rows& a, const Rows& b) {
  Rows c(a.size(), std::vector<double>(b.front().size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < c[i].size(); ++j)
      for (size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

std::vector<float> one_hot(size_t n, size_t at) {
  std::vector<float> weights(n);
  weights[at] = 1.0f;
  return weights;
}

TEST(Rollout, EqualsTheProductOfWholeMatricesInDoublePrecision) {
  const AttentionMaps maps = test::random_maps(test::layout_of({3, 4}, 2), 4, 3);
  for (const auto fusion : {HeadFusion::kMean, HeadFusion::kMax, HeadFusion::kMin})
    for (const double discard : {0.0, 0.3, 0.9})
      for (const size_t first : {size_t{0}, size_t{2}}) {
        const RolloutOptions options{.fusion = fusion, .discard = discard, .first_layer = first};
        Rows expected = naive_step(maps, first, options);
        for (size_t layer = first + 1; layer < maps.layers; ++layer)
          expected = product(naive_step(maps, layer, options), expected);
        for (size_t query = 0; query < maps.tokens(); ++query) {
          const auto got = rollout(maps, one_hot(maps.tokens(), query), options);
          for (size_t j = 0; j < got.size(); ++j)
            // 4 layers of 15-term sums of numbers below 1.
            EXPECT_NEAR(got[j], expected[query][j], 4 * 15 * 6e-8)
                << to_string(fusion) << " discard " << discard << " query " << query;
        }
      }
}

TEST(Rollout, DiscardsTheSmallestAlsoBehindEqualOnes) {
  // One class token and four patches of weights 2, 2, 1, 2 in tenths: half of four is two.
  AttentionMaps maps = test::random_maps(test::layout_of({2, 2}), 1, 1);
  const std::vector<float> weights{0.3f, 0.2f, 0.2f, 0.1f, 0.2f};
  for (size_t i = 0; i < maps.tokens(); ++i)
    std::copy(weights.begin(), weights.end(), maps.weights.view().row(i));
  const Matrix step = rollout_step(maps, 0, {.discard = 0.5});
  const auto row = step.view().row_span(0);
  EXPECT_EQ(row[1], 0.0f) << "the first of the equal ones";
  EXPECT_GT(row[2], 0.0f);
  EXPECT_EQ(row[3], 0.0f) << "the smallest";
  EXPECT_GT(row[4], 0.0f);
}

TEST(Rollout, RowsAddUpToOneWhateverTheFusion) {
  const AttentionMaps maps = test::random_maps(test::layout_of({5, 5}), 3, 4);
  for (const auto fusion : {HeadFusion::kMean, HeadFusion::kMax, HeadFusion::kMin}) {
    const auto row = rollout(maps, one_hot(maps.tokens(), 0), {.fusion = fusion, .discard = 0.5});
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1.0, 1e-5);
  }
}

TEST(Rollout, FusesHeadsToMeanMaximumAndMinimum) {
  Matrix layer(2, 2);
  layer(0, 0) = 0.2f;
  layer(0, 1) = 0.8f;
  layer(1, 0) = 0.6f;
  layer(1, 1) = 0.4f;
  const auto fused = [&](HeadFusion fusion) {
    const Matrix m = fuse_heads(layer, 2, fusion);
    return std::vector<float>(m.data(), m.data() + m.size());
  };
  EXPECT_THAT(fused(HeadFusion::kMean), ElementsAre(FloatEq(0.4f), FloatEq(0.6f)));
  EXPECT_THAT(fused(HeadFusion::kMax), ElementsAre(FloatEq(0.6f), FloatEq(0.8f)));
  EXPECT_THAT(fused(HeadFusion::kMin), ElementsAre(FloatEq(0.2f), FloatEq(0.4f)));
}

TEST(Rollout, SaysWhichLayersThereAreAndWhatMayBeDiscarded) {
  const AttentionMaps maps = test::random_maps(test::layout_of({2, 2}), 3, 1);
  const auto message = [&](const RolloutOptions& options) {
    try {
      rollout(maps, one_hot(maps.tokens(), 0), options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message({.first_layer = 3}), "rollout from layer 3: the model has layers 0 to 2");
  EXPECT_EQ(message({.discard = 1.0}),
            "rollout: the fraction to discard is 1, expected 0 up to below 1");
}

}  // namespace
}  // namespace vit::interpret
