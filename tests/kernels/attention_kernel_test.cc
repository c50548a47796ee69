#include "vit/kernels/attention_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/random.h"
#include "tests/support/reference.h"

namespace vit {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct Shape {
  size_t queries, keys, heads, key_heads, value_heads, width, value_width;
};

struct Case {
  Shape shape;
  Matrix q, k, v;

  explicit Case(Shape s)
      : shape(s),
        q(test::random_matrix(s.queries, s.heads * s.width, 1)),
        k(test::random_matrix(s.keys, s.key_heads * s.width, 2)),
        v(test::random_matrix(s.keys, s.value_heads * s.value_width, 3)) {}

  AttentionCall call(Isa isa) const {
    return {.queries = q,
            .keys = k,
            .values = v,
            .heads = shape.heads,
            .key_heads = shape.key_heads,
            .value_heads = shape.value_heads,
            .scale = 1.0f / std::sqrt(static_cast<float>(shape.width)),
            .mask = {},
            .isa = isa};
  }
};

struct Result {
  Matrix output, probabilities;
};

Result run(const AttentionCall& call, ThreadPool* pool = nullptr) {
  Result r{Matrix(call.queries.rows, call.heads * call.value_width()),
           Matrix(call.heads * call.queries.rows, call.keys.rows)};
  AttentionScratch scratch;
  attention(call, r.output, scratch, pool, r.probabilities);
  return r;
}

/// Scores are chains of d multiply-adds on numbers of order 1, below 8 in all; an error e of a
/// score is a relative error e of its exponential. Then n additions, and values of order 4.
double tolerance(const AttentionCall& call) {
  const double score = static_cast<double>(call.head_width() + 4) * 0x1p-24 * 8.0 + 1e-6;
  return 4.0 * (2.0 * score + static_cast<double>(call.keys.rows) * 0x1p-24);
}

void expect_matches_oracle(const AttentionCall& call) {
  const Result got = run(call);
  const reference::Attention expected = reference::attention(call);
  for (size_t i = 0; i < got.output.size(); ++i)
    ASSERT_NEAR(got.output.data()[i], expected.output[i], tolerance(call))
        << to_string(call.isa) << " output " << i;
  for (size_t i = 0; i < got.probabilities.size(); ++i)
    ASSERT_NEAR(got.probabilities.data()[i], expected.probabilities[i], tolerance(call))
        << to_string(call.isa) << " probability " << i;
}

TEST(AttentionKernel, MatchesTheOracleForEveryEdge) {
  for (const Isa isa : available_isas())
    for (const size_t queries : {1, 5, 6, 7, 47, 49, 97})
      for (const size_t keys : {1, 2, 15, 16, 17, 33, 48, 49})
        for (const size_t width : {1, 4, 6, 16, 24})
          expect_matches_oracle(Case({queries, keys, 2, 2, 2, width, width}).call(isa));
}

TEST(AttentionKernel, MatchesTheOracleAtRealShapes) {
  for (const Isa isa : available_isas()) {
    expect_matches_oracle(Case({197, 197, 3, 3, 3, 64, 64}).call(isa));
    expect_matches_oracle(Case({1, 577, 2, 2, 2, 72, 72}).call(isa));
    expect_matches_oracle(Case({50, 50, 1, 1, 1, 80, 80}).call(isa));
  }
}

TEST(AttentionKernel, SharesKeysAndValuesAmongGroupsOfHeads) {
  for (const Isa isa : available_isas()) {
    expect_matches_oracle(Case({9, 11, 6, 2, 2, 8, 8}).call(isa));   // grouped-query
    expect_matches_oracle(Case({9, 11, 6, 1, 1, 8, 8}).call(isa));   // multi-query
    expect_matches_oracle(Case({9, 11, 6, 6, 3, 8, 16}).call(isa));  // differential
  }
}

TEST(AttentionKernel, HidesTheFutureFromCausalQueries) {
  for (const Isa isa : available_isas())
    for (const size_t keys : {7, 12}) {
      const Case c({7, keys, 2, 2, 2, 8, 8});
      AttentionCall call = c.call(isa);
      call.mask.causal = true;
      expect_matches_oracle(call);
      const Result got = run(call);
      for (size_t h = 0; h < 2; ++h)
        for (size_t i = 0; i < 7; ++i)
          for (size_t j = i + keys - 7 + 1; j < keys; ++j)
            EXPECT_EQ(got.probabilities(h * 7 + i, j), 0.0f);
    }
}

TEST(AttentionKernel, AddsSharedAndPerHeadAndPerKeyMasks) {
  for (const Isa isa : available_isas()) {
    const Case c({6, 10, 3, 3, 3, 8, 8});
    const Matrix shared = test::random_matrix(6, 10, 21),
                 per_head = test::random_matrix(18, 10, 22);
    std::vector<float> per_key = test::random_vector(10, 23);
    per_key[4] = kHidden;
    AttentionCall call = c.call(isa);
    call.mask.bias = shared;
    expect_matches_oracle(call);
    call.mask.bias = per_head;
    call.mask.key_bias = per_key;
    expect_matches_oracle(call);
    EXPECT_EQ(run(call).probabilities(0, 4), 0.0f);
  }
}

TEST(AttentionKernel, AddsNumbersToAllScoresOfAKey) {
  for (const Isa isa : available_isas())
    for (const size_t keys : {5, 33, 90}) {
      const Case c({13, keys, 2, 2, 2, 8, 8});
      std::vector<float> per_key = test::random_vector(keys, 23);
      AttentionCall call = c.call(isa);
      call.mask.key_bias = per_key;
      expect_matches_oracle(call);
      per_key[keys - 2] = 5.0f;  // a token that stands for many
      expect_matches_oracle(call);
      per_key[keys - 2] = 90.0f;  // far above the first ones
      expect_matches_oracle(call);
      for (const float hidden : {-1e9f, kHidden}) {
        per_key[3] = hidden;
        expect_matches_oracle(call);
        EXPECT_EQ(run(call).probabilities(0, 3), 0.0f);
      }
    }
}

/// The same numbers for every pair of tokens: [heads·queries, keys].
Matrix for_each_pair(const OffsetBias& bias, size_t queries) {
  const auto [rows, cols] = bias.grid;
  Matrix all(bias.offsets.rows() * queries, bias.tokens());
  for (size_t h = 0; h < bias.offsets.rows(); ++h)
    for (size_t q = 0; q < queries; ++q)
      for (size_t k = 0; k < bias.tokens(); ++k) {
        const bool from_prefix = q < bias.prefix, to_prefix = k < bias.prefix;
        float& value = all(h * queries + q, k);
        if (from_prefix || to_prefix) {
          value = bias.of_prefix(h, !from_prefix ? 1 : to_prefix ? 2 : 0);
        } else {
          const size_t a = q - bias.prefix, b = k - bias.prefix;
          value = bias.offsets(h, (b / cols + rows - 1 - a / cols) * (2 * cols - 1) + b % cols +
                                      cols - 1 - a % cols);
        }
      }
  return all;
}

TEST(AttentionKernel, AddsNumbersThatDependOnTheOffsetOfTwoPatches) {
  struct Grid {
    size_t prefix, rows, cols, queries;
    float spread;
  };
  for (const Grid& g :
       {Grid{1, 14, 14, 197, 1.0f}, Grid{0, 3, 5, 15, 1.0f}, Grid{2, 9, 4, 38, 1.0f},
        Grid{1, 7, 23, 1, 1.0f}, Grid{1, 5, 9, 46, 300.0f}, Grid{1, 1, 1, 2, 1.0f}}) {
    const size_t tokens = g.prefix + g.rows * g.cols;
    const Case c({g.queries, tokens, 3, 3, 3, 16, 16});
    OffsetBias bias{
        .prefix = g.prefix,
        .grid = {g.rows, g.cols},
        .offsets = test::random_matrix(3, (2 * g.rows - 1) * (2 * g.cols - 1), 7, g.spread),
        .of_prefix = test::random_matrix(3, 3, 8, g.spread)};
    const Matrix pairs = for_each_pair(bias, g.queries);
    for (const Isa isa : available_isas()) {
      AttentionCall call = c.call(isa);
      call.offsets = &bias;
      const Result got = run(call);
      call.offsets = nullptr;
      call.mask.bias = pairs;
      const reference::Attention expected = reference::attention(call);
      // A score of size s is off by some roundings of s, which its exponential is off by.
      const double all = tolerance(call) + 16.0 * 0x1p-24 * g.spread;
      for (size_t i = 0; i < got.output.size(); ++i)
        ASSERT_NEAR(got.output.data()[i], expected.output[i], all) << to_string(isa) << " " << i;
      for (size_t i = 0; i < got.probabilities.size(); ++i)
        ASSERT_NEAR(got.probabilities.data()[i], expected.probabilities[i], all)
            << to_string(isa) << " " << i;
    }
  }
}

TEST(AttentionKernel, AQueryThatSeesNothingGetsZeros) {
  for (const Isa isa : available_isas()) {
    const Case c({3, 5, 1, 1, 1, 8, 8});
    Matrix mask(3, 5);
    for (size_t j = 0; j < 5; ++j) mask(1, j) = kHidden;
    AttentionCall call = c.call(isa);
    call.mask.bias = mask;
    const Result got = run(call);
    for (size_t k = 0; k < 8; ++k) EXPECT_EQ(got.output(1, k), 0.0f);
    expect_matches_oracle(call);
  }
}

TEST(AttentionKernel, OneKeyMayBeFarAboveTheFirstOnes) {
  for (const Isa isa : available_isas()) {
    Case c({13, 90, 1, 1, 1, 8, 8});
    const Result plain = run(c.call(isa));
    for (size_t k = 0; k < 8; ++k) c.q(4, k) = 40.0f * c.k(60, k);  // scores of 100 and more
    const AttentionCall call = c.call(isa);
    const Result got = run(call);
    const reference::Attention expected = reference::attention(call);
    for (size_t j = 0; j < 90; ++j)
      EXPECT_NEAR(got.probabilities(4, j), expected.probabilities[4 * 90 + j], 1e-4);
    EXPECT_NEAR(got.probabilities(4, 60), 1.0f, 1e-4);
    c.q(4, 0) = std::numeric_limits<float>::quiet_NaN();
    const Result spoilt = run(c.call(isa));
    EXPECT_TRUE(std::isnan(spoilt.output(4, 0)));
    for (size_t i = 0; i < 13; ++i)
      for (size_t k = 0; i != 4 && k < 8; ++k) {
        EXPECT_EQ(got.output(i, k), plain.output(i, k)) << "its neighbours are as they were";
        EXPECT_EQ(spoilt.output(i, k), plain.output(i, k));
      }
  }
}

TEST(AttentionKernel, LargeValuesDoNotOverflowWhereOneKeyStandsOut) {
  for (const Isa isa : available_isas())
    for (const float above : {20.0f, 45.0f, 60.0f, 80.0f, 86.0f}) {
      Case c({1, 40, 1, 1, 1, 8, 8});
      for (float& value : std::span(c.k.data(), c.k.size())) value = 0.0f;
      c.q(0, 0) = 8.0f;
      c.k(39, 0) = above / (8.0f / std::sqrt(8.0f));
      for (size_t k = 0; k < 8; ++k) c.v(39, k) = 1e6f;
      EXPECT_NEAR(run(c.call(isa)).output(0, 3), 1e6, 1.0) << to_string(isa) << " " << above;
    }
}

TEST(AttentionKernel, GivesTheSameBitsWithWorkersAndWithoutProbabilities) {
  ThreadPool two(2), four(4);  // with rows of their own, and with parts of heads
  for (const Isa isa : available_isas()) {
    const Case c({197, 197, 3, 3, 3, 16, 16});
    const Result serial = run(c.call(isa)), shared = run(c.call(isa), &two);
    const Result in_parts = run(c.call(isa), &four);
    Matrix untapped(197, 48);
    AttentionScratch scratch;
    attention(c.call(isa), untapped, scratch);
    const size_t bytes = untapped.size() * sizeof(float);
    EXPECT_EQ(0, std::memcmp(serial.output.data(), shared.output.data(), bytes));
    EXPECT_EQ(0, std::memcmp(serial.output.data(), in_parts.output.data(), bytes));
    EXPECT_EQ(0, std::memcmp(serial.output.data(), untapped.data(), bytes));
  }
}

}  // namespace
}  // namespace vit
