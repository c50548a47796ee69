#include "vit/interpret/query.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/interpret/synthetic.h"
#include "tests/support/message_of.h"
#include "vit/base/error.h"

namespace vit::interpret {
namespace {

using vit::test::message_of;

TEST(Query, DefaultsToTheTokenOfTheAnswer) {
  ModelConfig config;
  EXPECT_EQ(default_query(config).kind, QueryKind::kClass);
  config.head.pooling = Pooling::kMean;
  EXPECT_EQ(default_query(config).kind, QueryKind::kMean);
  config.head.pooling = Pooling::kAttention;
  EXPECT_EQ(default_query(config).kind, QueryKind::kPool);
}

TEST(Query, KnowsPrefixTokensAndPatches) {
  TokenLayout layout = test::layout_of({2, 3});
  layout.prefix = {PrefixToken::kClass, PrefixToken::kDistillation, PrefixToken::kRegister,
                   PrefixToken::kRegister};
  const auto asked = [&](const Query& query) {
    const auto weights = query_weights(query, layout);
    EXPECT_EQ(weights.size(), 10u);
    EXPECT_EQ(std::accumulate(weights.begin(), weights.end(), 0.0f), 1.0f);
    return std::distance(weights.begin(), std::find(weights.begin(), weights.end(), 1.0f));
  };
  EXPECT_EQ(asked({.kind = QueryKind::kClass}), 0);
  EXPECT_EQ(asked({.kind = QueryKind::kDistillation}), 1);
  EXPECT_EQ(asked({.kind = QueryKind::kRegister, .index = 1}), 3);
  EXPECT_EQ(asked({.kind = QueryKind::kPatch, .row = 1, .col = 2}), 9);
  EXPECT_EQ(token_name(layout, 3), "register 1");
  EXPECT_EQ(token_name(layout, 9), "patch 1,2");

  const auto mean = query_weights({.kind = QueryKind::kMean}, layout);
  EXPECT_EQ(prefix_mass(layout, mean), 0.0);
  EXPECT_NEAR(mean[4], 1.0 / 6.0, 1e-7);
}

TEST(Query, SaysWhichTokensThereAre) {
  const TokenLayout layout = test::layout_of({2, 3}, 1);
  EXPECT_EQ(
      message_of([&] { query_weights({.kind = QueryKind::kDistillation}, layout); }),
      "query 'distillation': the model has no such token, it has cls, register 0 and 2x3 patches");
  EXPECT_EQ(
      message_of([&] { query_weights({.kind = QueryKind::kRegister, .index = 1}, layout); }),
      "query 'register 1': the model has no such token, it has cls, register 0 and 2x3 patches");
  EXPECT_EQ(
      message_of([&] { query_weights({.kind = QueryKind::kPatch, .row = 2, .col = 0}, layout); }),
      "query 'patch 2,0': the grid has rows 0 to 1 and columns 0 to 2");
  EXPECT_EQ(message_of([&] { query_weights({.kind = QueryKind::kPool}, layout); }),
            "query 'pool': it is not a token, and exists in the attention pool only");
}

TEST(Query, FindsThePatchUnderAPixelOfTheOriginalImage) {
  const TokenLayout layout = test::layout_of({14, 14});
  Recipe recipe;                                       // short edge to 248, centre crop 224
  const ImageSize image{.width = 992, .height = 496};  // resized by half: 496 x 248
  const auto patch_at = [&](double x, double y) {
    const Query q = on_grid({.kind = QueryKind::kPixel, .x = x, .y = y}, image, recipe, layout);
    EXPECT_EQ(q.kind, QueryKind::kPatch);
    return std::pair(q.row, q.col);
  };
  // The crop starts at (136, 12) of the resized image, (272, 24) of the original: 32 pixels a
  // patch.
  EXPECT_EQ(patch_at(272, 24), std::pair(size_t{0}, size_t{0}));
  EXPECT_EQ(patch_at(303, 55), std::pair(size_t{0}, size_t{0}));
  EXPECT_EQ(patch_at(304, 56), std::pair(size_t{1}, size_t{1}));
  EXPECT_EQ(patch_at(719, 471), std::pair(size_t{13}, size_t{13}));
  EXPECT_EQ(message_of([&] { patch_at(271, 24); }),
            "query 'x:271,y:24': the crop excludes this pixel of the 992x496 image; it keeps x "
            "272 to 719, y 24 to 471");
  EXPECT_EQ(message_of([&] { patch_at(720, 24); }).substr(0, 43),
            "query 'x:720,y:24': the crop excludes this ");
}

TEST(Query, FindsThePatchWhereTheRecipePadsOrSquashes) {
  const TokenLayout layout = test::layout_of({14, 14});
  Recipe recipe;
  recipe.resize = ResizeMode::kBorder;
  recipe.resize_height = recipe.resize_width = 224;
  // 448 x 224 becomes 224 x 112, with 56 rows of padding above.
  const Query padded =
      on_grid({.kind = QueryKind::kPixel, .x = 0, .y = 0}, {448, 224}, recipe, layout);
  EXPECT_EQ(padded.row, 3u);
  EXPECT_EQ(padded.col, 0u);
  recipe.resize = ResizeMode::kSquash;
  const Query squashed =
      on_grid({.kind = QueryKind::kPixel, .x = 447, .y = 112}, {448, 224}, recipe, layout);
  EXPECT_EQ(squashed.row, 7u);
  EXPECT_EQ(squashed.col, 13u);
}

}  // namespace
}  // namespace vit::interpret
