#include "vit/encoder/encoder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/encoder/parts.h"
#include "tests/encoder/random_encoder.h"

namespace vit {
namespace {

constexpr size_t kTokens = 11;

Matrix encoded(const Encoder& encoder, const EncoderTaps* taps, ThreadPool* pool = nullptr) {
  Matrix tokens = test::random_matrix(kTokens, test::kEncoderWidth, 5);
  Workspace workspace(workspace_shape(encoder, kTokens));
  workspace.pool = pool;
  encode(encoder, tokens, workspace, taps);
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

TEST(Encoder, DecodingStepByStepEqualsTheFullCausalPass) {
  const Encoder encoder = test::random_encoder(3);
  Matrix full = test::random_matrix(kTokens, test::kEncoderWidth, 5);
  Workspace workspace(workspace_shape(encoder, kTokens));
  encode(encoder, full, workspace, nullptr, {.causal = true});

  std::vector<KeyValueCache> caches = make_caches(encoder, kTokens);
  for (size_t t = 0; t < kTokens; ++t) {
    const Matrix all = test::random_matrix(kTokens, test::kEncoderWidth, 5);
    Matrix token(1, test::kEncoderWidth);
    std::copy_n(all.view().row(t), test::kEncoderWidth, token.data());
    encode_next(encoder, token, workspace, caches);
    EXPECT_LE(test::largest_difference(token, test::table(full.view().row_range(t, 1))),
              10 * test::kSublayer);
  }
}

}  // namespace
}  // namespace vit
