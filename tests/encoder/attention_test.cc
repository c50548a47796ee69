#include "vit/encoder/attention.h"
#include "tests/support/execution.h"

#include <gtest/gtest.h>

#include "tests/encoder/parts.h"
#include "vit/base/error.h"
#include "vit/encoder/mask.h"

namespace vit {
namespace {

using test::KnownLinear;
using test::Table;

struct Shape {
  size_t width = 24, heads = 6, key_value_heads = 6;
  size_t head_width() const { return width / heads; }
  size_t key_width() const { return head_width() * key_value_heads; }
};

/// Self-attention with known weights; the optional parts are added by the tests.
struct Self {
  Shape shape;
  KnownLinear qkv, project;
  Attention attention;

  explicit Self(Shape s)
      : shape(s), qkv(s.width + 2 * s.key_width(), s.width, 1), project(s.width, s.width, 3) {
    attention.qkv = qkv.packed();
    attention.project = project.packed();
    attention.heads = s.heads;
    attention.key_value_heads = s.key_value_heads;
  }

  /// One head after the other, each with its own or its group's keys and values.
  Table expected(const Table& x, const Table& bias = {}) const {
    const Table all = qkv(x);
    const size_t d = shape.head_width(), k = shape.key_width();
    const Table queries = test::normed(attention.query_norm, test::columns(all, 0, shape.width));
    const Table keys = test::normed(attention.key_norm, test::columns(all, shape.width, k));
    const Table values = test::columns(all, shape.width + k, k);
    Table context{x.rows, shape.width, std::vector<double>(x.rows * shape.width)};
    for (size_t h = 0; h < shape.heads; ++h) {
      const size_t group = h / (shape.heads / shape.key_value_heads);
      const Table head =
          test::attend_plainly(test::columns(queries, h * d, d), test::columns(keys, group * d, d),
                               test::columns(values, group * d, d), attention.temperature, bias);
      for (size_t r = 0; r < x.rows; ++r)
        for (size_t c = 0; c < d; ++c) context(r, h * d + c) = head(r, c);
    }
    return project(test::normed(attention.output_norm, context));
  }

  Matrix run(const Matrix& x, const AttentionMask& mask = {}, MatrixView probabilities = {}) const {
    Workspace workspace(workspace_shape(attention, x.rows()));
    Matrix y(x.rows(), shape.width);
    attend(attention, {.tokens = x, .mask = mask, .probabilities = probabilities},
           {workspace, test::best_execution()}, y);
    return y;
  }
};

TEST(Attention, ConcatenatesHeadsAndProjectsThem) {
  const Self self({});
  const Matrix x = test::random_matrix(13, 24, 7);
  EXPECT_LE(test::largest_difference(self.run(x), self.expected(test::table(x))), test::kSublayer);
}

TEST(Attention, GroupedAndMultiQueryHeadsShareKeysAndValues) {
  const Matrix x = test::random_matrix(13, 24, 7);
  for (const size_t key_value_heads : {1, 2, 3}) {
    const Self self({.key_value_heads = key_value_heads});
    EXPECT_LE(test::largest_difference(self.run(x), self.expected(test::table(x))), test::kSublayer)
        << key_value_heads << " key/value heads";
  }
}

TEST(Attention, NormalisesQueriesAndKeysPerHeadAndTheConcatenation) {
  for (const NormKind kind : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
    Self self({});
    self.attention.query_norm = test::random_norm(kind, 4, 21);
    self.attention.key_norm = test::random_norm(kind, 4, 23);
    self.attention.output_norm = test::random_norm(kind, 24, 25);
    const Matrix x = test::random_matrix(9, 24, 7);
    // Norms of four numbers magnify earlier errors by up to their largest weight.
    EXPECT_LE(test::largest_difference(self.run(x), self.expected(test::table(x))),
              4 * test::kSublayer);
  }
}

TEST(Attention, TemperatureDividesTheScores) {
  Self self({});
  self.attention.temperature = 2.5f;
  const Matrix x = test::random_matrix(9, 24, 7);
  EXPECT_LE(test::largest_difference(self.run(x), self.expected(test::table(x))), test::kSublayer);
}

TEST(Attention, FollowsEveryKindOfMask) {
  const Self self({});
  const Matrix x = test::random_matrix(9, 24, 7);
  const Matrix causal = causal_mask(9);
  const std::vector<size_t> lengths{4, 5};
  const Matrix blocks = block_diagonal_mask(lengths);
  const Matrix arbitrary = test::random_matrix(9, 9, 8);
  for (const Matrix* mask : {&causal, &blocks, &arbitrary})
    EXPECT_LE(test::largest_difference(self.run(x, {.bias = *mask}),
                                       self.expected(test::table(x), test::table(*mask))),
              test::kSublayer);
  EXPECT_LE(test::largest_difference(self.run(x, {.causal = true}),
                                     self.expected(test::table(x), test::table(causal))),
            test::kSublayer);
}

TEST(Attention, PackedSequencesAnswerAsIfAlone) {
  const Self self({});
  const Matrix x = test::random_matrix(9, 24, 7);
  const std::vector<size_t> lengths{4, 5};
  const Matrix mask = block_diagonal_mask(lengths);
  const Matrix packed = self.run(x, {.bias = mask});
  Matrix first(4, 24);
  std::copy_n(x.data(), 4 * 24, first.data());
  EXPECT_LE(test::largest_difference(packed.view().row_range(0, 4), test::table(self.run(first))),
            test::kSublayer);
}

TEST(Attention, PaddingChangesNothing) {
  const Self self({});
  Matrix padded = test::random_matrix(9, 24, 7);
  Matrix x(6, 24);
  std::copy_n(padded.data(), 6 * 24, x.data());
  const std::vector<float> mask = padding_mask(9, 6);
  const Matrix got = self.run(padded, {.key_bias = mask});
  EXPECT_LE(test::largest_difference(got.view().row_range(0, 6), test::table(self.run(x))),
            test::kSublayer);
}

TEST(Attention, CrossAttentionTakesKeysAndValuesFromTheOtherSequence) {
  const KnownLinear query(24, 24, 1), key_value(48, 24, 3), project(24, 24, 5);
  Attention attention;
  attention.query = query.packed();
  attention.key_value = key_value.packed();
  attention.project = project.packed();
  attention.heads = attention.key_value_heads = 2;
  const Matrix x = test::random_matrix(3, 24, 7), memory = test::random_matrix(11, 24, 8);

  const Table q = query(test::table(x)), kv = key_value(test::table(memory));
  Table context{3, 24, std::vector<double>(72)};
  for (size_t h = 0; h < 2; ++h) {
    const Table head =
        test::attend_plainly(test::columns(q, 12 * h, 12), test::columns(kv, 12 * h, 12),
                             test::columns(kv, 24 + 12 * h, 12), 1.0, {});
    for (size_t r = 0; r < 3; ++r)
      for (size_t c = 0; c < 12; ++c) context(r, 12 * h + c) = head(r, c);
  }
  Workspace workspace(workspace_shape(attention, 3, 11));
  Matrix y(3, 24);
  attend(attention, {.tokens = x, .memory = memory}, {workspace, test::best_execution()}, y);
  EXPECT_LE(test::largest_difference(y, project(context)), test::kSublayer);
}

TEST(Attention, DifferentialHeadsSubtractTheirSecondSoftmax) {
  const Shape shape{.width = 24, .heads = 3, .key_value_heads = 3};
  Self self(shape);
  self.attention.differential = Differential{
      .lambda = 0.37f,
      .initial = 0.2f,
      .norm = {.kind = NormKind::kRmsNorm, .eps = 1e-5f, .weight = test::random_vector(8, 31)}};
  const Matrix x = test::random_matrix(7, 24, 7);

  const Table all = self.qkv(test::table(x));
  Table context{7, 24, std::vector<double>(7 * 24)};
  for (size_t h = 0; h < 3; ++h) {
    const Table values = test::columns(all, 48 + 8 * h, 8);
    const auto half = [&](size_t which) {
      return test::attend_plainly(test::columns(all, 8 * h + 4 * which, 4),
                                  test::columns(all, 24 + 8 * h + 4 * which, 4), values, 1.0, {});
    };
    const Table first = half(0), second = half(1);
    for (size_t r = 0; r < 7; ++r)
      for (size_t c = 0; c < 8; ++c)
        context(r, 8 * h + c) = first(r, c) - double{0.37f} * second(r, c);
  }
  Table expected = test::normed(self.attention.differential->norm, context);
  for (double& value : expected.values) value *= 1.0 - double{0.2f};

  Matrix maps(3 * 7, 7);
  const Matrix got = self.run(x, {}, maps);
  // The norm magnifies the difference of two nearly equal softmaxes.
  EXPECT_LE(test::largest_difference(got, self.project(expected)), 10 * test::kSublayer);
  for (size_t r = 0; r < maps.rows(); ++r) {
    double total = 0.0;
    for (size_t c = 0; c < 7; ++c) total += maps(r, c);
    EXPECT_NEAR(total, 1.0 - 0.37, 1e-5) << "each softmax sums to one";
  }
}

TEST(Cache, StepByStepDecodingEqualsTheFullCausalPass) {
  for (const size_t key_value_heads : {1, 3, 6}) {
    const Self self({.key_value_heads = key_value_heads});
    const Matrix x = test::random_matrix(10, 24, 7);
    const Matrix full = self.run(x, {.causal = true});
    KeyValueCache cache(10, self.shape.key_width(), self.shape.key_width());
    Workspace workspace(workspace_shape(self.attention, 4));
    size_t done = 0;
    for (const size_t step : {4, 1, 1, 3, 1}) {  // a prompt, then single tokens and a chunk
      Matrix y(step, 24);
      attend(self.attention,
             {.tokens = x.view().row_range(done, step), .mask = {.causal = true}, .cache = &cache},
             {workspace, test::best_execution()}, y);
      EXPECT_LE(test::largest_difference(y, test::table(full.view().row_range(done, step))),
                test::kSublayer);
      done += step;
    }
    EXPECT_EQ(cache.length(), 10u);
  }
}

TEST(Cache, SaysWhenItIsFull) {
  KeyValueCache cache(3, 2, 2);
  const Matrix two(2, 2);
  cache.append(two, two);
  try {
    cache.append(two, two);
    FAIL() << "took a fourth token";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "key/value cache: 2 of 3 tokens are used, 2 more do not fit; make it with room for "
        "the longest sequence");
  }
  cache.clear();
  EXPECT_NO_THROW(cache.append(two, two));
}

}  // namespace
}  // namespace vit
