// NaFlex: the size of each image's own aspect ratio, and the answer at that size.
#include "vit/model/sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/golden.h"
#include "tests/support/near.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"
#include "vit/model/classifier.h"

namespace vit {
namespace {

/// What timm's get_image_size_for_seq answers for patches of 16: "HEIGHTxWIDTH/PATCHES" to a size.
TEST(SequenceSize, EqualsTimms) {
  const auto sizes =
      test::read_json(test::goldens() / "families" / "naflex_gap" / "case.json").at("sizes");
  EXPECT_EQ(sizes.size(), 70u);
  for (const auto& [name, size] : sizes.items()) {
    InputSize image;
    size_t patches = 0;
    char cross = 0, slash = 0;
    std::istringstream(name) >> image.height >> cross >> image.width >> slash >> patches;
    EXPECT_EQ(sequence_size(image, {16, 16}, patches), (InputSize{size[0], size[1]})) << name;
  }
  EXPECT_EQ(sequence_size({1, 100'000}, {16, 16}, 1), (InputSize{16, 16}));
}

void expect_near(const std::vector<float>& got, const std::vector<float>& want) {
  test::expect_near(got, want, 1e-5, "features");
}

TEST(Sequence, AnswersAsTimmAtEachImagesOwnSize) {
  for (const std::string name :
       {"naflex_gap", "naflex_par_gap", "naflex_parfac_gap", "naflex_map", "naflex_siglip"}) {
    SCOPED_TRACE(name);
    const auto folder = test::goldens() / "families" / name;
    const auto want = test::read_golden(folder / "expected_sequence_24.safetensors");
    const Image image = read_image(folder / "image.png");
    const auto model = Classifier::load(folder, {.threads = 2, .max_patches = 24});
    const auto first = model.logits({&image, 1}).front();
    expect_near(first, want.at("logits").values);
    expect_near(model.features(image, FeatureKind::kPooled), want.at("pooled").values);

    Image turned = image;  // another grid in between must not change the answer
    std::swap(turned.width, turned.height);
    const auto both = model.logits(std::vector{turned, image});
    EXPECT_EQ(both[1], first);
    EXPECT_EQ(both[0], model.logits({&turned, 1}).front());
  }
}

TEST(Sequence, RefusesModelsThatAreMadeForOneGrid) {
  for (const auto& [name, what] :
       {std::pair{"dinov3_small", "rotary positions"}, {"beit", "a relative position bias"}}) {
    try {
      Classifier::load(test::goldens() / "families" / name, {.max_patches = 24});
      FAIL() << "accepted " << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  testing::HasSubstr(std::string(": this model has ") + what +
                                     " made for one size of all images; expected a model with a "
                                     "table of positions, such as naflexvit_base_patch16_gap"));
    }
  }
}

TEST(Sequence, IsOfOneSizeForEachImageAlone) {
  const auto folder = test::goldens() / "families" / "naflex_map";
  const auto fixed = Classifier::load(folder, {.threads = 1});
  const auto model = Classifier::load(folder, {.threads = 1, .max_patches = 24});
  EXPECT_EQ(model.config(), fixed.config());
  const Image wide{.width = 40, .height = 10, .pixels = std::vector<std::uint8_t>(1200, 7)};
  model.logits({&wide, 1});
  EXPECT_EQ(model.config(), fixed.config()) << "as loaded, whatever the last image was";
  EXPECT_EQ(model.recipe(), fixed.recipe());
  EXPECT_THROW(model.runner(), Error);
  EXPECT_THROW(model.shared_runner(), Error);
  EXPECT_THROW(model.for_each(1, [](size_t, Runner&) {}), Error);
  EXPECT_THROW(Classifier::load(folder, {.image_height = 32, .max_patches = 24}), Error);
  EXPECT_THROW(Classifier::load(folder, {.max_patches = 24, .disabled_heads = {{99, 0}}}), Error)
      << "now, not with the first image";
}

}  // namespace
}  // namespace vit
