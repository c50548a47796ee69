#include "vit/interpret/pattern.h"

#include <gtest/gtest.h>

#include "tests/interpret/synthetic.h"
#include "vit/interpret/similarity.h"

namespace vit::interpret {
namespace {

const TokenLayout kLayout = test::layout_of({8, 10}, 1);

struct Cell {
  int row;
  int col;
};

/// The place of a patch token; prefix tokens have none.
bool on_grid(size_t token) {
  return token >= kLayout.first_patch();
}
Cell cell_of(size_t token) {
  const size_t patch = token - kLayout.first_patch();
  return {static_cast<int>(patch / kLayout.grid.cols), static_cast<int>(patch % kLayout.grid.cols)};
}

using Planted = std::function<bool(Cell query, Cell key)>;

std::string recognized(double share, unsigned seed, const Planted& planted) {
  const Matrix head =
      test::planted_attention(kLayout.tokens(), share, seed, [&](size_t query, size_t key) {
        return on_grid(query) && on_grid(key) && planted(cell_of(query), cell_of(key));
      });
  return describe(recognize(head, kLayout), kLayout);
}

TEST(Pattern, FindsPatchesThatAttendToThemselves) {
  for (const double share : {0.25, 0.5, 0.9})
    EXPECT_EQ(recognized(share, 1, [](Cell a, Cell b) { return a.row == b.row && a.col == b.col; }),
              "diagonal")
        << share;
}

TEST(Pattern, FindsOffsetsWithTheirDirection) {
  for (const Cell offset : {Cell{1, 0}, Cell{-1, 0}, Cell{0, 2}, Cell{-2, 1}}) {
    const auto sign = [](int n) { return std::string(n > 0 ? "+" : "") + std::to_string(n); };
    EXPECT_EQ(recognized(0.5, 2,
                         [&](Cell a, Cell b) {
                           return b.row == a.row + offset.row && b.col == a.col + offset.col;
                         }),
              "offset " + sign(offset.row) + "," + sign(offset.col));
  }
}

TEST(Pattern, FindsTheTokenThatAllPatchesAttendTo) {
  for (const auto& [token, name] :
       {std::pair{size_t{0}, "vertical cls"}, std::pair{size_t{1}, "vertical register 0"},
        std::pair{size_t{25}, "vertical patch 2,3"}}) {
    const Matrix head = test::planted_attention(
        kLayout.tokens(), 0.5, 3, [planted = token](size_t, size_t key) { return key == planted; });
    EXPECT_EQ(describe(recognize(head, kLayout), kLayout), name);
  }
}

TEST(Pattern, FindsRowsColumnsAndQuadrants) {
  EXPECT_EQ(recognized(0.6, 4, [](Cell a, Cell b) { return a.row == b.row; }), "block row");
  EXPECT_EQ(recognized(0.6, 5, [](Cell a, Cell b) { return a.col == b.col; }), "block column");
  EXPECT_EQ(recognized(0.8, 6,
                       [](Cell a, Cell b) {
                         return (a.row < 4) == (b.row < 4) && (a.col < 5) == (b.col < 5);
                       }),
            "block quadrant");
}

TEST(Pattern, FindsNothingInRandomOrUniformHeads) {
  for (unsigned seed = 0; seed < 20; ++seed)
    for (const float spread : {0.5f, 1.0f, 2.0f}) {
      const Matrix head = test::random_attention(kLayout.tokens(), kLayout.tokens(), seed, spread);
      const Pattern pattern = recognize(head, kLayout);
      EXPECT_EQ(pattern.kind, PatternKind::kMixed) << seed << " " << spread;
      EXPECT_LT(pattern.score, 0.3) << seed << " " << spread;
    }
  Matrix even(kLayout.tokens(), kLayout.tokens());
  std::fill_n(even.data(), even.size(), 1.0f / static_cast<float>(kLayout.tokens()));
  EXPECT_EQ(recognize(even, kLayout).kind, PatternKind::kMixed);
  EXPECT_EQ(recognize(even, kLayout).score, 0.0);
}

TEST(Pattern, ScoresThePurePatternWithOne) {
  const Matrix head = test::planted_attention(
      kLayout.tokens(), 1.0, 7, [](size_t query, size_t key) { return query == key; });
  EXPECT_NEAR(recognize(head, kLayout).score, 1.0, 1e-6);
}

TEST(Pattern, PrefersWhatMostOfTheAttentionDoes) {
  // Two thirds go to the class token, the rest to the patch itself.
  Matrix head(kLayout.tokens(), kLayout.tokens());
  for (size_t i = 0; i < head.rows(); ++i) {
    head(i, 0) += 0.67f;
    head(i, i) += 0.33f;
  }
  EXPECT_EQ(describe(recognize(head, kLayout), kLayout), "vertical cls");
}

TEST(Similarity, FindsAPlantedDuplicateAndNothingElse) {
  AttentionMaps maps = test::random_maps(kLayout, 3, 4);
  const size_t tokens = kLayout.tokens();
  const auto cells = [&](size_t layer, size_t head) {
    return maps.weights.data() + (layer * maps.heads + head) * tokens * tokens;
  };
  std::copy_n(cells(0, 3), tokens * tokens, cells(2, 1));
  const Matrix noise = test::random_attention(tokens, tokens, 99);
  for (size_t i = 0; i < noise.size(); ++i)
    cells(2, 1)[i] = 0.95f * cells(2, 1)[i] + 0.05f * noise.data()[i];
  const auto found = find_duplicates(head_similarity(maps), maps.heads);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, (HeadId{0, 3}));
  EXPECT_EQ(found[0].second, (HeadId{2, 1}));
  EXPECT_GT(found[0].similarity, 0.95);
}

TEST(Similarity, UniformHeadsResembleNoOther) {
  AttentionMaps maps = test::random_maps(kLayout, 1, 2);
  std::fill_n(maps.weights.data(), maps.weights.size(), 1.0f / static_cast<float>(maps.tokens()));
  EXPECT_EQ(head_similarity(maps)(0, 1), 0.0f);
}

}  // namespace
}  // namespace vit::interpret
