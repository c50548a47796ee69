#include "vit/model/head.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/execution.h"
#include "tests/support/random.h"

namespace vit {
namespace {

constexpr size_t kTokens = 5, kWidth = 4;

std::vector<float> pool(const Head& head, size_t outputs = kWidth) {
  Matrix tokens = test::random_matrix(kTokens, kWidth, 1);
  Workspace workspace;
  HeadScratch scratch;
  std::vector<float> output(outputs);
  answer(head, {tokens}, {workspace, test::best_execution()}, scratch, output);
  return output;
}

Head head_of(Pooling pooling, size_t prefix, bool pool_prefix) {
  Head head;
  head.pooling = pooling;
  head.prefix = prefix;
  head.pool_prefix = pool_prefix;
  return head;
}

double column_mean(const Matrix& m, size_t c, size_t first) {
  double sum = 0.0;
  for (size_t r = first; r < m.rows(); ++r) sum += m(r, c);
  return sum / static_cast<double>(m.rows() - first);
}

double column_max(const Matrix& m, size_t c, size_t first) {
  double best = m(first, c);
  for (size_t r = first; r < m.rows(); ++r) best = std::max(best, double{m(r, c)});
  return best;
}

TEST(Head, PoolsWhatItSaysAndNothingElse) {
  const Matrix tokens = test::random_matrix(kTokens, kWidth, 1);
  for (size_t c = 0; c < kWidth; ++c) {
    EXPECT_EQ(pool(head_of(Pooling::kClass, 2, false))[c], tokens(0, c));
    EXPECT_NEAR(pool(head_of(Pooling::kMean, 2, false))[c], column_mean(tokens, c, 2), 1e-6);
    EXPECT_NEAR(pool(head_of(Pooling::kMean, 2, true))[c], column_mean(tokens, c, 0), 1e-6);
    EXPECT_EQ(pool(head_of(Pooling::kMax, 2, false))[c], column_max(tokens, c, 2));
    EXPECT_NEAR(pool(head_of(Pooling::kMeanMax, 1, false))[c],
                0.5 * (column_mean(tokens, c, 1) + column_max(tokens, c, 1)), 1e-6);
    const auto both = pool(head_of(Pooling::kClassAndMean, 1, false), 2 * kWidth);
    EXPECT_EQ(both[c], tokens(0, c));
    EXPECT_NEAR(both[kWidth + c], column_mean(tokens, c, 1), 1e-6);
  }
}

TEST(Head, AveragesTheFeaturesOfBothTokensWhereADistilledModelHasNoClassifier) {
  Head head = head_of(Pooling::kClass, 2, false);
  head.distills = true;
  const Matrix tokens = test::random_matrix(kTokens, kWidth, 1);
  const auto output = pool(head);
  for (size_t c = 0; c < kWidth; ++c) EXPECT_EQ(output[c], 0.5f * (tokens(0, c) + tokens(1, c)));
}

TEST(Head, PassesThePreLogitsThroughTanh) {
  Head head = head_of(Pooling::kClass, 1, false);
  const Matrix weights = test::random_matrix(3, kWidth, 2);
  head.pre_logits = pack_linear(
      3, kWidth,
      [&](size_t first, size_t count, float* rows) {
        std::copy_n(weights.view().row(first), count * kWidth, rows);
      },
      {}, active_isa());
  const Matrix tokens = test::random_matrix(kTokens, kWidth, 1);
  const auto output = pool(head, 3);
  for (size_t o = 0; o < 3; ++o) {
    double sum = 0.0;
    for (size_t c = 0; c < kWidth; ++c) sum += double{tokens(0, c)} * weights(o, c);
    EXPECT_NEAR(output[o], std::tanh(sum), 1e-6);
  }
}

TEST(Head, ScalesWhatTheClassifierReadsToLengthOne) {
  Head head = head_of(Pooling::kClass, 1, false);
  head.unit_features = true;
  const Matrix tokens = test::random_matrix(kTokens, kWidth, 1);
  double squares = 0.0;
  for (size_t c = 0; c < kWidth; ++c) squares += double{tokens(0, c)} * double{tokens(0, c)};
  const auto output = pool(head);
  for (size_t c = 0; c < kWidth; ++c)
    EXPECT_NEAR(output[c], double{tokens(0, c)} / std::sqrt(squares), 1e-7);
}

}  // namespace
}  // namespace vit
