// NaFlex: the size of each image's own aspect ratio, and the answer at that size.
#include "vit/model/sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "tests/support/golden.h"
#include "tests/support/near.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"
#include "weights/checkpoint.h"

namespace vit {
namespace {

/// What timm's get_image_size_for_seq answers for patches of 16.
TEST(SequenceSize, EqualsTimms) {
  struct Case {
    InputSize image;
    size_t patches;
    InputSize size;
  };
  for (const auto& [image, patches, size] :
       {Case{{76, 100}, 16, {64, 64}}, Case{{76, 100}, 576, {336, 432}},
        Case{{100, 76}, 784, {512, 384}}, Case{{480, 640}, 16, {48, 64}},
        Case{{480, 640}, 1024, {432, 576}}, Case{{30, 1000}, 49, {16, 544}},
        Case{{30, 1000}, 256, {48, 1360}}, Case{{1000, 30}, 1024, {2720, 96}},
        Case{{16, 16}, 576, {384, 384}}, Case{{333, 333}, 196, {224, 224}},
        Case{{1080, 1920}, 256, {192, 336}}, Case{{1080, 1920}, 784, {336, 592}},
        Case{{500, 17}, 576, {1888, 64}}, Case{{500, 17}, 1024, {2720, 96}}})
    EXPECT_EQ(sequence_size(image, {16, 16}, patches), size)
        << image.height << "x" << image.width << " in " << patches;
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

    Image turned = image;  // another grid in between leaves nothing behind
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
