#include "vit/encoder/block.h"
#include "tests/support/execution.h"

#include <gtest/gtest.h>

#include "tests/encoder/parts.h"

namespace vit {
namespace {

using test::KnownLinear;
using test::Table;

constexpr size_t kWidth = 16, kHeads = 2, kHidden = 40, kTokens = 9;

/// Attention and MLP with known weights.
struct Sublayers {
  KnownLinear qkv, project, expand, contract;
  Norm norm1, norm2;
  std::vector<float> scale1, scale2;
  Activation activation;
  bool gated;

  Sublayers(unsigned seed, Activation a, bool g, NormKind kind)
      : qkv(3 * kWidth, kWidth, seed),
        project(kWidth, kWidth, seed + 2),
        expand((g ? 2 : 1) * kHidden, kWidth, seed + 4),
        contract(kWidth, kHidden, seed + 6),
        norm1(test::random_norm(kind, kWidth, seed + 8)),
        norm2(test::random_norm(kind, kWidth, seed + 10)),
        scale1(test::random_vector(kWidth, seed + 12)),
        scale2(test::random_vector(kWidth, seed + 13)),
        activation(a),
        gated(g) {}

  AttentionBranch attention_branch(bool scaled) const {
    AttentionBranch branch;
    branch.norm = norm1;
    branch.attention.qkv = qkv.packed();
    branch.attention.project = project.packed();
    branch.attention.heads = branch.attention.key_value_heads = kHeads;
    if (scaled) branch.layer_scale = scale1;
    return branch;
  }
  MlpBranch mlp_branch(bool scaled) const {
    MlpBranch branch;
    branch.norm = norm2;
    branch.mlp.expand = expand.packed();
    branch.mlp.contract = contract.packed();
    branch.mlp.activation = activation;
    branch.mlp.gated = gated;
    if (scaled) branch.layer_scale = scale2;
    return branch;
  }

  Table attend(const Table& x) const {
    const Table all = qkv(x);
    const size_t d = kWidth / kHeads;
    Table context{x.rows, kWidth, std::vector<double>(x.rows * kWidth)};
    for (size_t h = 0; h < kHeads; ++h) {
      const Table head =
          test::attend_plainly(test::columns(all, h * d, d), test::columns(all, kWidth + h * d, d),
                               test::columns(all, 2 * kWidth + h * d, d), 1.0, {});
      for (size_t r = 0; r < x.rows; ++r)
        for (size_t c = 0; c < d; ++c) context(r, h * d + c) = head(r, c);
    }
    return project(context);
  }
  Table feed(const Table& x) const {
    const Table hidden = expand(x);
    Table active{x.rows, kHidden, std::vector<double>(x.rows * kHidden)};
    for (size_t r = 0; r < x.rows; ++r)
      for (size_t c = 0; c < kHidden; ++c)
        active(r, c) =
            reference::activate(activation, hidden(r, c)) * (gated ? hidden(r, kHidden + c) : 1.0);
    return contract(active);
  }
};

Matrix run(const Block& block, MatrixView probabilities = {}) {
  Matrix x = test::random_matrix(kTokens, kWidth, 99);
  Workspace workspace(workspace_shape(block, kTokens));
  forward(block, {.probabilities = probabilities}, {workspace, test::best_execution()}, x);
  return x;
}

Block block_of(BlockKind kind, const Sublayers& s, bool scaled) {
  Block block{.kind = kind, .attention = {}, .mlp = {}};
  block.attention.push_back(s.attention_branch(scaled));
  block.mlp.push_back(s.mlp_branch(scaled));
  return block;
}

const Table kInput = test::table(test::random_matrix(kTokens, kWidth, 99));

/// Two sublayers; the norm of the second magnifies the errors of the first.
constexpr double kBlock = 4 * test::kSublayer;

TEST(Block, PreNormAddsTheResultForTheNormedTokens) {
  for (const bool scaled : {false, true})
    for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
      const Sublayers s(1, Activation::kGelu, false, kind);
      Table x = kInput;
      const std::vector<float> none;
      x = test::sum(x, s.attend(test::normed(s.norm1, x)), scaled ? s.scale1 : none);
      x = test::sum(x, s.feed(test::normed(s.norm2, x)), scaled ? s.scale2 : none);
      EXPECT_LE(test::largest_difference(run(block_of(BlockKind::kPreNorm, s, scaled)), x), kBlock);
    }
}

TEST(Block, PostNormNormalisesTheSum) {
  const Sublayers s(1, Activation::kRelu, false, NormKind::kLayerNorm);
  Table x = kInput;
  x = test::normed(s.norm1, test::sum(x, s.attend(x)));
  x = test::normed(s.norm2, test::sum(x, s.feed(x)));
  EXPECT_LE(test::largest_difference(run(block_of(BlockKind::kPostNorm, s, false)), x), kBlock);
}

TEST(Block, ResidualPostNormAddsTheNormedUpdate) {
  const Sublayers s(1, Activation::kGelu, false, NormKind::kLayerNorm);
  Table x = kInput;
  x = test::sum(x, test::normed(s.norm1, s.attend(x)));
  x = test::sum(x, test::normed(s.norm2, s.feed(x)));
  EXPECT_LE(test::largest_difference(run(block_of(BlockKind::kResidualPostNorm, s, false)), x),
            kBlock);
}

TEST(Block, ParallelAddsAttentionAndMlpOfTheSameTokens) {
  const Sublayers s(1, Activation::kGelu, false, NormKind::kRmsNorm);
  const Table n = test::normed(s.norm1, kInput);
  const Table x = test::sum(test::sum(kInput, s.attend(n), s.scale1), s.feed(n), s.scale1);
  EXPECT_LE(test::largest_difference(run(block_of(BlockKind::kParallel, s, true)), x), kBlock);
}

TEST(Block, SeveralBranchesReadTheSameTokensAndAreSummed) {
  const Sublayers a(1, Activation::kGelu, false, NormKind::kLayerNorm);
  const Sublayers b(40, Activation::kGelu, false, NormKind::kLayerNorm);
  Table x = kInput;
  x = test::sum(test::sum(x, a.attend(test::normed(a.norm1, kInput)), a.scale1),
                b.attend(test::normed(b.norm1, kInput)), b.scale1);
  const Table middle = x;
  x = test::sum(test::sum(x, a.feed(test::normed(a.norm2, middle)), a.scale2),
                b.feed(test::normed(b.norm2, middle)), b.scale2);
  Block block = block_of(BlockKind::kPreNorm, a, true);
  block.attention.push_back(b.attention_branch(true));
  block.mlp.push_back(b.mlp_branch(true));
  Matrix maps(2 * kHeads * kTokens, kTokens);
  EXPECT_LE(test::largest_difference(run(block, maps), x), kBlock);
  for (size_t r = 0; r < maps.rows(); ++r) {
    double total = 0.0;
    for (size_t c = 0; c < kTokens; ++c) total += maps(r, c);
    EXPECT_NEAR(total, 1.0, 1e-5) << "row " << r;
  }
}

TEST(Block, TheMlpTakesEveryActivationPlainOrGated) {
  for (const Activation activation : {Activation::kGelu, Activation::kGeluTanh,
                                      Activation::kQuickGelu, Activation::kRelu, Activation::kSilu})
    for (const bool gated : {false, true}) {
      const Sublayers s(1, activation, gated, NormKind::kLayerNorm);
      Table x = test::sum(kInput, s.attend(test::normed(s.norm1, kInput)));
      x = test::sum(x, s.feed(test::normed(s.norm2, x)));
      EXPECT_LE(test::largest_difference(run(block_of(BlockKind::kPreNorm, s, false)), x), kBlock)
          << to_string(activation) << (gated ? ", gated" : "");
    }
}

TEST(Block, TheMlpNormalisesItsHiddenNumbersWhereAsked) {
  const Sublayers s(1, Activation::kGelu, false, NormKind::kLayerNorm);
  Block block = block_of(BlockKind::kPreNorm, s, false);
  block.mlp.front().mlp.norm = test::random_norm(NormKind::kLayerNorm, kHidden, 77);
  Table x = test::sum(kInput, s.attend(test::normed(s.norm1, kInput)));
  Table hidden = s.expand(test::normed(s.norm2, x));
  for (double& value : hidden.values) value = reference::activate(Activation::kGelu, value);
  x = test::sum(x, s.contract(test::normed(block.mlp.front().mlp.norm, hidden)));
  EXPECT_LE(test::largest_difference(run(block), x), kBlock);
}

TEST(Block, NeededTokensAreTheSameAsAmongAllOfThemInEveryKind) {
  const Sublayers s(1, Activation::kGelu, false, NormKind::kLayerNorm),
      other(50, Activation::kGelu, false, NormKind::kLayerNorm);
  std::vector<Block> blocks;
  for (const BlockKind kind : {BlockKind::kPreNorm, BlockKind::kPostNorm,
                               BlockKind::kResidualPostNorm, BlockKind::kParallel})
    blocks.push_back(block_of(kind, s, true));
  blocks.push_back(block_of(BlockKind::kPreNorm, s, true));
  blocks.back().attention.push_back(other.attention_branch(true));
  blocks.back().mlp.push_back(other.mlp_branch(true));
  for (const Block& block : blocks) {
    const Matrix all = run(block), before = test::random_matrix(kTokens, kWidth, 99);
    Matrix x = test::random_matrix(kTokens, kWidth, 99);
    Workspace workspace(workspace_shape(block, kTokens));
    EXPECT_EQ(forward(block, {.needed_tokens = 2}, {workspace, test::best_execution()}, x).rows,
              2u);
    for (size_t r = 0; r < kTokens; ++r)
      for (size_t c = 0; c < kWidth; ++c) {
        ASSERT_EQ(x(r, c), r < 2 ? all(r, c) : before(r, c)) << static_cast<int>(block.kind);
      }
  }
}

}  // namespace
}  // namespace vit
