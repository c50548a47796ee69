// Every gradient against central differences in double precision, for every kind of part.
#include "vit/gradient/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/gradient/cases.h"
#include "tests/support/random_checkpoint.h"
#include "vit/base/error.h"

namespace vit::gradient {
namespace {

constexpr size_t kImages = 2;

GrowingMatrix<double> random_numbers(size_t rows, size_t cols, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  GrowingMatrix<double> numbers(rows, cols);
  for (size_t r = 0; r < rows; ++r)
    for (double& value : numbers.view().row_span(r)) value = normal(engine);
  return numbers;
}

/// A network with lively weights, a batch, and the scalar whose gradient is checked: the logits
/// weighted by random numbers, squared to have curvature.
class Fixture {
 public:
  explicit Fixture(const ModelConfig& config, bool drop_path = false)
      : network(load_network<double>(test::random_checkpoint(config))),
        patches(random_numbers(kImages * config.embedding.grid().count(),
                               config.embedding.patch_size(), 7)),
        weights(random_numbers(kImages, config.outputs(), 8)),
        paths(drop_path ? 2 * config.encoder.depth : 0, drop_path ? kImages : 0) {
    for (size_t r = 0; r < paths.rows(); ++r)
      for (size_t b = 0; b < kImages; ++b) paths.view()(r, b) = (r + b) % 3 == 0 ? 0.0 : 1.25;
  }

  ConstView<double> run() {
    return forward<double>(network, {.patches = patches, .images = kImages, .paths = paths}, trace);
  }
  double loss() {
    const ConstView<double> logits = run();
    double sum = 0.0;
    for (size_t r = 0; r < logits.rows; ++r)
      for (size_t c = 0; c < logits.cols; ++c)
        sum += weights.view()(r, c) * (logits(r, c) + 0.1 * logits(r, c) * logits(r, c));
    return sum;
  }
  GrowingMatrix<double> loss_gradient() {
    const ConstView<double> logits = run();
    GrowingMatrix<double> gradient(logits.rows, logits.cols);
    for (size_t r = 0; r < logits.rows; ++r)
      for (size_t c = 0; c < logits.cols; ++c)
        gradient.view()(r, c) = weights.view()(r, c) * (1.0 + 0.2 * logits(r, c));
    return gradient;
  }

  Network<double> network;
  GrowingMatrix<double> patches;
  GrowingMatrix<double> weights;
  GrowingMatrix<double> paths;
  Trace<double> trace;
};

/// (f(x + h·d) - f(x - h·d)) / 2h, off by h²·f''' and by rounding/h: 1e-5 balances the two.
constexpr double kStep = 1e-5;
constexpr double kRelative = 1e-6;

/// Along `direction`, which applies to the numbers from `first` on.
double central_difference(Fixture& f, double* first, const std::vector<double>& direction) {
  const std::vector<double> before(first, first + direction.size());
  const auto at = [&](double step) {
    for (size_t i = 0; i < direction.size(); ++i) first[i] = before[i] + step * direction[i];
    return f.loss();
  };
  const double slope = (at(kStep) - at(-kStep)) / (2.0 * kStep);
  std::copy(before.begin(), before.end(), first);
  return slope;
}

/// A whole tensor along random directions: an error in any single number shows.
void expect_gradient(Fixture& f, const std::string& name, double* numbers,
                     std::span<const double> gradient) {
  double norm = 0.0;
  for (const double g : gradient) norm += g * g;
  norm = std::sqrt(norm);
  std::mt19937 engine(5);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 3; ++round) {
    std::vector<double> direction(gradient.size());
    double expected = 0.0;
    for (size_t i = 0; i < direction.size(); ++i) {
      direction[i] = normal(engine);
      expected += direction[i] * gradient[i];
    }
    EXPECT_NEAR(central_difference(f, numbers, direction), expected, kRelative * (norm + 1e-3))
        << name << ", gradient norm " << norm;
  }
}

class Gradients : public ::testing::TestWithParam<Case> {};

TEST_P(Gradients, OfEveryTensorMatchCentralDifferences) {
  ModelConfig config = tiny();
  GetParam().change(config);
  Fixture f(config, true);
  const GrowingMatrix<double> dlogits = f.loss_gradient();
  std::vector<double> gradients(f.network.layout.size());
  GrowingMatrix<double> dpatches(f.patches.rows(), f.patches.cols());
  backward<double>(NetworkView<double>(f.network, {f.network.numbers, gradients}), f.trace, dlogits,
                   dpatches);
  for (const Slot& slot : f.network.layout.slots())
    expect_gradient(f, slot.name(), f.network.numbers.data() + slot.offset,
                    {gradients.data() + slot.offset, slot.size()});
  expect_gradient(f, "patches", f.patches.view().data, {dpatches.view().data, dpatches.size()});
}

INSTANTIATE_TEST_SUITE_P(Model, Gradients, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

/// The numbers that learn, merged into the network that the fixture runs.
struct LowRankFixture {
  explicit LowRankFixture(Fixture& of, size_t rank)
      : f(of), layout(f.network.layout, rank), frozen(f.network.numbers), learned(layout.size()) {
    std::mt19937 engine(3);
    std::normal_distribution<double> normal(0.0, 0.2);
    for (double& number : learned) number = normal(engine);
    merge();
  }
  void merge() { merge_low_rank<double>(layout, learned, frozen, f.network.numbers); }
  std::vector<double> gradients() {
    const GrowingMatrix<double> dlogits = f.loss_gradient();
    std::vector<double> gradients(layout.size());
    const NetworkView<double> view(f.network, {.numbers = f.network.numbers,
                                               .gradients = gradients,
                                               .low_rank = &layout,
                                               .learned = learned});
    backward<double>(view, f.trace, dlogits);
    return gradients;
  }

  Fixture& f;
  LowRankLayout layout;
  std::vector<double> frozen;
  std::vector<double> learned;
};

TEST_P(Gradients, OfLowRankAdaptersMatchCentralDifferences) {
  ModelConfig config = tiny();
  GetParam().change(config);
  Fixture f(config);
  LowRankFixture low(f, 2);
  const std::vector<double> gradients = low.gradients();
  std::mt19937 engine(5);
  std::normal_distribution<double> normal;
  for (const LowRankSlot& slot : low.layout.slots()) {
    std::vector<double> direction(slot.size());
    double expected = 0.0, norm = 0.0;
    for (size_t i = 0; i < direction.size(); ++i) {
      direction[i] = normal(engine);
      expected += direction[i] * gradients[slot.offset + i];
      norm += gradients[slot.offset + i] * gradients[slot.offset + i];
    }
    const std::vector<double> before = low.learned;
    const auto at = [&](double step) {
      for (size_t i = 0; i < direction.size(); ++i)
        low.learned[slot.offset + i] = before[slot.offset + i] + step * direction[i];
      low.merge();
      return f.loss();
    };
    const double slope = (at(kStep) - at(-kStep)) / (2.0 * kStep);
    low.learned = before;
    low.merge();
    EXPECT_NEAR(slope, expected, kRelative * (std::sqrt(norm) + 1e-3)) << slot.full.name();
  }
}

/// What the hook got: the probabilities of one layer for all images.
struct Seen {
  std::vector<double> probabilities;
  std::vector<double> gradient;
};

std::vector<Seen> watch(Fixture& f) {
  std::vector<Seen> seen(f.network.config.encoder.depth);
  BackwardTaps<double> taps;
  taps.attention = [&](const AttentionTap<double>& tap) {
    Seen& layer = seen.at(tap.layer);
    for (size_t r = 0; r < tap.gradient.rows; ++r) {
      const auto p = tap.probabilities.row_span(r), g = tap.gradient.row_span(r);
      layer.probabilities.insert(layer.probabilities.end(), p.begin(), p.end());
      layer.gradient.insert(layer.gradient.end(), g.begin(), g.end());
    }
  };
  const GrowingMatrix<double> dlogits = f.loss_gradient();
  backward<double>(f.network, f.trace, dlogits, {}, &taps);
  return seen;
}

TEST(AttentionHook, HandsOutEveryLayerAndHeadWithRowsThatSumToOne) {
  Fixture f(tiny());
  const std::vector<Seen> seen = watch(f);
  const size_t tokens = f.network.config.embedding.tokens();
  for (const Seen& layer : seen) {
    ASSERT_EQ(layer.probabilities.size(), kImages * 3 * tokens * tokens);
    for (size_t r = 0; r < layer.probabilities.size(); r += tokens) {
      double sum = 0.0;
      for (size_t c = 0; c < tokens; ++c) sum += layer.probabilities[r + c];
      EXPECT_NEAR(sum, 1.0, 1e-12);
    }
  }
}

/// Adding e to the bias of the values of one head changes all its outputs alike: the change of the
/// loss is what the gradients of the probabilities say about a scaling of the attention. Checked
/// through the softmax: dY/ds = p · (dY/dp - sum p · dY/dp) against a bias on the query side.
TEST(AttentionHook, GradientsAgreeWithThoseOfTheQueriesBias) {
  Fixture f(tiny());
  const std::vector<Seen> seen = watch(f);
  const ModelConfig& c = f.network.config;
  const size_t tokens = c.embedding.tokens(), d = c.encoder.head_width(), layer = 1, head = 2;
  const Slot& bias = *f.network.layout.find("blocks.1.attn.qkv.bias");
  // The same number added to one query feature of every token adds it times the keys' feature.
  const GrowingMatrix<double>& qkv = f.trace.blocks[layer][0].attention.qkv;
  const double scale = 1.0 / std::sqrt(static_cast<double>(d));
  double expected = 0.0;
  for (size_t image = 0; image < kImages; ++image)
    for (size_t i = 0; i < tokens; ++i) {
      const size_t row = ((image * c.encoder.heads + head) * tokens + i) * tokens;
      const double* p = &seen[layer].probabilities[row];
      const double* g = &seen[layer].gradient[row];
      double mean = 0.0;
      for (size_t j = 0; j < tokens; ++j) mean += p[j] * g[j];
      for (size_t j = 0; j < tokens; ++j)
        expected += scale * p[j] * (g[j] - mean) *
                    qkv.view()(image * tokens + j, c.encoder.width + head * d);
    }
  const double measured =
      central_difference(f, f.network.numbers.data() + bias.offset + head * d, {1.0});
  EXPECT_NEAR(measured, expected, 1e-6 * (std::abs(expected) + 1e-3));
}

TEST(AttentionHook, SeesThePoolsOwnAttention) {
  ModelConfig config = tiny();
  config.head.pooling = Pooling::kAttention;
  Fixture f(config);
  size_t calls = 0;
  BackwardTaps<double> taps;
  taps.pooling = [&](const AttentionTap<double>& tap) {
    EXPECT_EQ(tap.probabilities.rows, 3u);
    EXPECT_EQ(tap.gradient.cols, 6u);
    ++calls;
  };
  const GrowingMatrix<double> dlogits = f.loss_gradient();
  backward<double>(f.network, f.trace, dlogits, {}, &taps);
  EXPECT_EQ(calls, kImages);
}

TEST(AttentionHook, SeesEachClassLayerTheLastOneFirst) {
  ModelConfig config = tiny();
  config.embedding.prefix.clear();
  config.head.class_layers = 2;
  config.head.class_mlp_width = 10;
  Fixture f(config);
  std::vector<size_t> layers;
  BackwardTaps<double> taps;
  taps.pooling = [&](const AttentionTap<double>& tap) {
    EXPECT_EQ(tap.probabilities.rows, 3u);
    EXPECT_EQ(tap.gradient.cols, 1u + 6u);
    layers.push_back(tap.layer);
  };
  const GrowingMatrix<double> dlogits = f.loss_gradient();
  backward<double>(f.network, f.trace, dlogits, {}, &taps);
  EXPECT_EQ(layers, (std::vector<size_t>{1, 1, 0, 0}));
}

ModelConfig cait() {
  ModelConfig config = tiny();
  config.embedding.prefix.clear();
  config.encoder.attention = AttentionKind::kTalkingHeads;
  config.head.class_layers = 2;
  config.head.class_mlp_width = 10;
  return config;
}

class Batches : public ::testing::TestWithParam<ModelConfig (*)()> {};

TEST_P(Batches, GiveWhatTheirImagesGiveAlone) {
  Fixture f(GetParam()());
  const ConstView<double> logits = f.run();
  Trace<double> alone;
  for (size_t image = 0; image < kImages; ++image) {
    const ConstView<double> own = f.patches.view().row_range(image * 6, 6);
    const ConstView<double> single =
        forward<double>(f.network, {.patches = own, .images = 1}, alone);
    for (size_t c = 0; c < logits.cols; ++c) EXPECT_NEAR(logits(image, c), single(0, c), 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Model, Batches, ::testing::Values(&tiny, &cait));

/// The way through the network with some patches left out is differentiable too.
TEST(Network, GradientsWithSomePatchesMatchCentralDifferences) {
  Fixture f(tiny());
  const std::vector<size_t> kept{5, 0, 3, 1, 2, 4};  // three of six patches per image
  const GrowingMatrix<double> patches =
      random_numbers(kept.size(), f.network.config.embedding.patch_size(), 9);
  const auto run = [&] {
    return forward<double>(f.network, {.patches = patches, .images = kImages, .kept = kept},
                           f.trace);
  };
  const auto loss = [&] {
    const ConstView<double> logits = run();
    double sum = 0.0;
    for (size_t r = 0; r < logits.rows; ++r)
      for (size_t c = 0; c < logits.cols; ++c) sum += f.weights.view()(r, c) * logits(r, c);
    return sum;
  };
  run();
  std::vector<double> gradients(f.network.layout.size());
  backward<double>(NetworkView<double>(f.network, {f.network.numbers, gradients}), f.trace,
                   f.weights);
  for (const char* name : {"pos_embed", "cls_token", "patch_embed.proj.weight"}) {
    const Slot& slot = *f.network.layout.find(name);
    for (size_t i = 0; i < slot.size(); i += 7) {
      double& number = f.network.numbers[slot.offset + i];
      const double before = number;
      number = before + kStep;
      const double above = loss();
      number = before - kStep;
      const double below = loss();
      number = before;
      EXPECT_NEAR(gradients[slot.offset + i], (above - below) / (2.0 * kStep), 1e-6) << name;
    }
  }
}

TEST(Network, AllPatchesInAnyOrderGiveTheSameAnswer) {
  ModelConfig config = tiny();
  config.head.pooling = Pooling::kMean;
  Fixture f(config);
  const GrowingMatrix<double> straight = [&] {
    const ConstView<double> logits = f.run();
    GrowingMatrix<double> copied(logits.rows, logits.cols);
    copy<double>(logits, copied);
    return copied;
  }();
  const std::vector<size_t> kept{3, 0, 5, 1, 4, 2, 2, 1, 0, 5, 4, 3};
  GrowingMatrix<double> shuffled(f.patches.rows(), f.patches.cols());
  for (size_t i = 0; i < kept.size(); ++i)
    copy<double>(f.patches.view().row_range(i / 6 * 6 + kept[i], 1),
                 shuffled.view().row_range(i, 1));
  const ConstView<double> logits =
      forward<double>(f.network, {.patches = shuffled, .images = kImages, .kept = kept}, f.trace);
  for (size_t r = 0; r < logits.rows; ++r)
    for (size_t c = 0; c < logits.cols; ++c)
      EXPECT_NEAR(logits(r, c), straight.view()(r, c), 1e-12);
}

TEST(Network, RefusesWhatHasNoBackwardPass) {
  ModelConfig config = tiny();
  config.encoder.width = 12;
  config.encoder.attention = AttentionKind::kDifferential;
  try {
    make_network<float>(config);
    FAIL() << "accepted differential attention";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "tiny: differential attention has no backward pass here; choose a model "
                 "without it");
  }
}

}  // namespace
}  // namespace vit::gradient
