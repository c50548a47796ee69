/// MobileCLIP-B's patches against its convolutions, written out as their definition says.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/near.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "vit/model/load.h"
#include "vit/model/runner.h"
#include "weights/known/architectures.h"

namespace vit {
namespace {

std::vector<double> numbers(const weights::Checkpoint& checkpoint, const std::string& name) {
  const weights::Weight& weight = checkpoint.at(name);
  std::vector<float> values(weight.size());
  weight.read_rows(0, weight.rows(), values.data());
  return {values.begin(), values.end()};
}

/// Planes [channels, side, side].
struct Planes {
  size_t channels = 0, side = 0;
  std::vector<double> values{};

  double& at(size_t c, size_t y, size_t x) { return values[(c * side + y) * side + x]; }
  double at(size_t c, size_t y, size_t x) const { return values[(c * side + y) * side + x]; }
};

/// A convolution whose stride is its kernel's side.
Planes convolved(const Planes& in, const std::vector<double>& kernel, size_t edge) {
  const size_t outputs = kernel.size() / (in.channels * edge * edge);
  Planes out{outputs, in.side / edge};
  out.values.assign(out.channels * out.side * out.side, 0.0);
  for (size_t o = 0; o < outputs; ++o)
    for (size_t y = 0; y < out.side; ++y)
      for (size_t x = 0; x < out.side; ++x)
        for (size_t c = 0; c < in.channels; ++c)
          for (size_t dy = 0; dy < edge; ++dy)
            for (size_t dx = 0; dx < edge; ++dx)
              out.at(o, y, x) += kernel[((o * in.channels + c) * edge + dy) * edge + dx] *
                                 in.at(c, y * edge + dy, x * edge + dx);
  return out;
}

void norm_and_gelu(const weights::Checkpoint& checkpoint, const std::string& name, Planes& planes) {
  const auto part = [&](const char* of) { return numbers(checkpoint, name + ".norm." + of); };
  const auto gain = part("weight"), bias = part("bias"), mean = part("mean"),
             variance = part("variance");
  const size_t area = planes.side * planes.side;
  for (size_t i = 0; i < planes.values.size(); ++i) {
    const size_t c = i / area;
    const double x =
        (planes.values[i] - mean[c]) / std::sqrt(variance[c] + 1e-5) * gain[c] + bias[c];
    planes.values[i] = x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  }
}

TEST(ConvStem, GivesEachPatchWhatConvolutionsOfTheWholeImageGive) {
  constexpr size_t kWidth = 24, kGrid = 2;
  ModelConfig config = weights::config_of(
      "vit_base_mci_224",
      {{"img_size", "32"}, {"embed_dim", "24"}, {"depth", "1"}, {"num_heads", "2"}});
  weights::Checkpoint checkpoint = test::random_checkpoint(config);
  const Model model = load_model(checkpoint);
  Runner runner(model, Recipe{});
  const Matrix pixels = test::random_matrix(3, 32 * 32, 5);
  std::copy_n(pixels.data(), pixels.size(), runner.pixels().data);
  Matrix tokens;
  ModelTaps taps;
  taps.tokens = [&](ConstMatrixView entering) { tokens = copy_of(entering); };
  runner.logits(&taps);

  Planes planes{3, 32, {pixels.data(), pixels.data() + pixels.size()}};
  for (const size_t layer : {0u, 1u}) {
    const std::string name = "patch_embed.stem." + std::to_string(layer);
    planes = convolved(planes, numbers(checkpoint, name + ".weight"), layer == 0 ? 4 : 2);
    norm_and_gelu(checkpoint, name, planes);
  }
  planes = convolved(planes, numbers(checkpoint, "patch_embed.proj.weight"), 2);
  const auto bias = numbers(checkpoint, "patch_embed.proj.bias"),
             positions = numbers(checkpoint, "pos_embed");
  ASSERT_EQ(planes.side, kGrid);
  ASSERT_EQ(tokens.rows(), 1 + kGrid * kGrid);
  for (size_t patch = 0; patch < kGrid * kGrid; ++patch) {
    std::vector<float> expected(kWidth);
    for (size_t c = 0; c < kWidth; ++c)
      expected[c] = static_cast<float>(planes.at(c, patch / kGrid, patch % kGrid) + bias[c] +
                                       positions[patch * kWidth + c]);
    test::expect_near(tokens.view().row_span(1 + patch), expected, 1e-5,
                      "patch " + std::to_string(patch));
  }
}

}  // namespace
}  // namespace vit
