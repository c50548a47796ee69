// NaFlex: the size of each image's own aspect ratio, and the answer at that size.
#include "vit/model/sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/golden.h"
#include "tests/support/near.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"
#include "weights/checkpoint.h"

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

TEST(SequenceModel, AnswersAsTimmAtEachImagesOwnSize) {
  for (const std::string name :
       {"naflex_gap", "naflex_par_gap", "naflex_parfac_gap", "naflex_map", "naflex_siglip"}) {
    SCOPED_TRACE(name);
    const auto folder = test::goldens() / "families" / name;
    const auto checkpoint = weights::open(folder);
    const auto want = test::read_golden(folder / "expected_sequence_24.safetensors");
    const Image image = read_image(folder / "image.png");
    SequenceModel model(checkpoint, {.most_patches = 24, .threads = 2});
    const auto first = model.logits(image);
    expect_near(first, want.at("logits").values);
    expect_near(model.features(image, FeatureKind::kPooled), want.at("pooled").values);

    Image turned = image;  // another grid in between must not change the answer
    std::swap(turned.width, turned.height);
    model.logits(turned);
    EXPECT_EQ(model.logits(image), first);
  }
}

TEST(SequenceModel, RefusesModelsThatAreMadeForOneGrid) {
  for (const auto& [name, what] :
       {std::pair{"dinov3_small", "rotary positions"}, {"beit", "a relative position bias"}}) {
    const auto checkpoint = weights::open(test::goldens() / "families" / name);
    try {
      SequenceModel(checkpoint, {.most_patches = 24});
      FAIL() << "accepted " << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  testing::HasSubstr(std::string(": this model has ") + what +
                                     " made for one size of all images; expected a model with a "
                                     "table of positions, such as naflexvit_base_patch16_gap"));
    }
  }
}

}  // namespace
}  // namespace vit
