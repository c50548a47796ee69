#include "vit/encoder/encoder.h"
#include "tests/support/execution.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/encoder/parts.h"
#include "tests/encoder/random_encoder.h"

namespace vit {
namespace {

constexpr size_t kTokens = 11;

Matrix encoded(const Encoder& encoder, const EncoderTaps* taps, ThreadPool* pool = nullptr,
               const EncoderInput& input = {}) {
  Matrix tokens = test::random_matrix(kTokens, test::kEncoderWidth, 5);
  Workspace workspace(workspace_shape(encoder, kTokens));
  encode(encoder, tokens, {workspace, test::best_execution(pool)}, taps, input);
  return tokens;
}

TEST(Encoder, HandsOutEveryAttentionMatrixWithRowsThatSumToOne) {
  const Encoder encoder = test::random_encoder(3);
  size_t layers = 0;
  EncoderTaps taps;
  taps.attention = [&](size_t layer, ConstMatrixView attention) {
    EXPECT_EQ(layer, layers++);
    ASSERT_EQ(attention.rows, test::kEncoderHeads * kTokens);
    ASSERT_EQ(attention.cols, kTokens);
    for (size_t r = 0; r < attention.rows; ++r) {
      double total = 0.0;
      for (const float p : attention.row_span(r)) total += p;
      EXPECT_NEAR(total, 1.0, static_cast<double>(kTokens + 1) * 0x1p-23);
    }
  };
  encoded(encoder, &taps);
  EXPECT_EQ(layers, 3u);
}

TEST(Encoder, TapsAndWorkersChangeNoBit) {
  const Encoder encoder = test::random_encoder(3);
  EncoderTaps taps;
  taps.attention = [](size_t, ConstMatrixView) {};
  ThreadPool pool(3);
  const Matrix plain = encoded(encoder, nullptr), tapped = encoded(encoder, &taps),
               shared = encoded(encoder, nullptr, &pool);
  EXPECT_EQ(0, std::memcmp(plain.data(), tapped.data(), plain.size() * sizeof(float)));
  EXPECT_EQ(0, std::memcmp(plain.data(), shared.data(), plain.size() * sizeof(float)));
}

/// The rows that a pass returns.
Matrix first_rows(const Encoder& encoder, const EncoderInput& input,
                  const EncoderTaps* taps = nullptr) {
  Matrix tokens = test::random_matrix(kTokens, test::kEncoderWidth, 5);
  Workspace workspace(workspace_shape(encoder, kTokens));
  const MatrixView left = encode(encoder, tokens, {workspace, test::best_execution()}, taps, input);
  Matrix rows(left.rows, left.cols);
  for (size_t r = 0; r < left.rows; ++r) std::copy_n(left.row(r), left.cols, rows.view().row(r));
  return rows;
}

TEST(Encoder, TheLastLayerSkipsTokensThatAreNotNeeded) {
  const Encoder encoder = test::random_encoder(3);
  const Matrix all = encoded(encoder, nullptr);
  const std::vector<std::vector<size_t>> disabled{{}, {1}, {0, 2}};
  const Matrix without = encoded(encoder, nullptr, nullptr, {.disabled_heads = disabled});
  EXPECT_NE(0, std::memcmp(all.data(), without.data(), all.size() * sizeof(float)));
  EncoderTaps watching;
  watching.block = [](size_t, ConstMatrixView tokens) { EXPECT_EQ(tokens.rows, kTokens); };
  for (const size_t needed : {size_t{1}, size_t{2}, kTokens, kTokens + 1}) {
    const Matrix some = first_rows(encoder, {.needed_tokens = needed});
    EXPECT_EQ(some.rows(), std::min(needed, kTokens));
    EXPECT_EQ(0, std::memcmp(all.data(), some.data(), some.size() * sizeof(float))) << needed;

    EXPECT_EQ(first_rows(encoder, {.needed_tokens = needed}, &watching).rows(), kTokens)
        << "a tap sees every token";

    const Matrix few = first_rows(encoder, {.needed_tokens = needed, .disabled_heads = disabled});
    EXPECT_EQ(few.rows(), some.rows());
    EXPECT_EQ(0, std::memcmp(without.data(), few.data(), few.size() * sizeof(float))) << needed;
  }
}

TEST(Encoder, NeededTokensAreTheSameWhetherOrNotTheLastLayerMerges) {
  const Encoder encoder = test::random_encoder(3);
  TokenMerge merge(2, 1);
  const Matrix all = first_rows(encoder, {.merge = &merge});
  EXPECT_EQ(all.rows(), kTokens - 6);
  const Matrix one = first_rows(encoder, {.merge = &merge, .needed_tokens = 1});
  EXPECT_EQ(one.rows(), 1u);
  EXPECT_EQ(0, std::memcmp(all.data(), one.data(), one.size() * sizeof(float)));
}

/// Every query has its own row of such a mask, so the rows of those that are needed are enough.
TEST(Encoder, TheLastLayerSkipsTokensWithAMaskForEachQuery) {
  const Encoder encoder = test::random_encoder(2);
  const Matrix bias = test::random_matrix(kTokens, kTokens, 8);
  const Matrix all = first_rows(encoder, {.mask = {.bias = bias}});
  for (const size_t needed : {size_t{1}, size_t{2}}) {
    const Matrix some = first_rows(encoder, {.mask = {.bias = bias}, .needed_tokens = needed});
    EXPECT_EQ(some.rows(), needed);
    EXPECT_EQ(0, std::memcmp(all.data(), some.data(), some.size() * sizeof(float))) << needed;
  }
}

TEST(Encoder, EveryQueryIsComputedWhereTheMaskIsCausalOrDiffersByHead) {
  const Encoder encoder = test::random_encoder(2);
  Workspace workspace(workspace_shape(encoder, kTokens));
  const size_t heads = encoder.blocks.front().attention.front().attention.heads;
  const Matrix bias = test::random_matrix(heads * kTokens, kTokens, 8);
  for (const AttentionMask& mask : {AttentionMask{.causal = true}, AttentionMask{.bias = bias}}) {
    Matrix all = test::random_matrix(kTokens, test::kEncoderWidth, 5);
    Matrix some = test::random_matrix(kTokens, test::kEncoderWidth, 5);
    encode(encoder, all, {workspace, test::best_execution()}, nullptr, {.mask = mask});
    EXPECT_EQ(encode(encoder, some, {workspace, test::best_execution()}, nullptr,
                     {.mask = mask, .needed_tokens = 1})
                  .rows,
              kTokens);
    EXPECT_EQ(0, std::memcmp(all.data(), some.data(), all.size() * sizeof(float)));
  }
}

TEST(Encoder, ResumesAtALayerWithTheTokensThatEnterIt) {
  const Encoder encoder = test::random_encoder(3);
  Matrix entering;
  EncoderTaps taps;
  taps.block = [&](size_t layer, ConstMatrixView tokens) {
    if (layer != 0) return;
    entering = Matrix(tokens.rows, tokens.cols);
    for (size_t r = 0; r < tokens.rows; ++r)
      std::copy_n(tokens.row(r), tokens.cols, entering.view().row(r));
  };
  const Matrix whole = encoded(encoder, &taps);
  Workspace workspace(workspace_shape(encoder, kTokens));
  encode(encoder, entering, {workspace, test::best_execution()}, nullptr, {.first_layer = 1});
  EXPECT_EQ(0, std::memcmp(whole.data(), entering.data(), whole.size() * sizeof(float)));
}

TEST(Encoder, DecodingStepByStepEqualsTheFullCausalPass) {
  const Encoder encoder = test::random_encoder(3);
  Matrix full = test::random_matrix(kTokens, test::kEncoderWidth, 5);
  Workspace workspace(workspace_shape(encoder, kTokens));
  encode(encoder, full, {workspace, test::best_execution()}, nullptr, {.mask = {.causal = true}});

  std::vector<KeyValueCache> caches = make_caches(encoder, kTokens);
  for (size_t t = 0; t < kTokens; ++t) {
    const Matrix all = test::random_matrix(kTokens, test::kEncoderWidth, 5);
    Matrix token(1, test::kEncoderWidth);
    std::copy_n(all.view().row(t), test::kEncoderWidth, token.data());
    encode_next(encoder, token, {workspace, test::best_execution()}, caches);
    EXPECT_LE(test::largest_difference(token, test::table(full.view().row_range(t, 1))),
              10 * test::kSublayer);
  }
}

}  // namespace
}  // namespace vit
