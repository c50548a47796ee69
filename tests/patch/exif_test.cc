#include "patch/image/exif.h"

#include <gtest/gtest.h>

#include <span>

#include "tests/support/exif_block.h"

namespace vit::patch {
namespace {

using test::exif_block;
using test::exif_text;

PhotoFacts facts_of(const std::string& block) {
  return photo_facts(std::as_bytes(std::span(block)));
}

TEST(Exif, SaysWhenWithWhatAndWhereAPhotographWasTaken) {
  const PhotoFacts facts = facts_of(test::sydney_exif());
  EXPECT_EQ(facts.taken, "2024-05-17T08:30:00+10:00");
  EXPECT_EQ(facts.camera, "Canon EOS R5") << "the maker is not named twice";
  ASSERT_TRUE(facts.latitude && facts.longitude);
  EXPECT_NEAR(*facts.latitude, -(33 + 51 / 60.0 + 24.48 / 3600), 1e-9);
  EXPECT_NEAR(*facts.longitude, 151 + 12 / 60.0 + 33.96 / 3600, 1e-9);
}

TEST(Exif, MalformedValuesAreIgnored) {
  EXPECT_EQ(facts_of("").taken, "");
  EXPECT_EQ(facts_of("MM").camera, "");
  const auto taken = [](const std::string& text) {
    return facts_of(exif_block({}, {exif_text(0x9003, text)}, {})).taken;
  };
  EXPECT_EQ(taken("2024:05:17 08:30:00"), "2024-05-17T08:30:00");
  EXPECT_EQ(taken("0000:00:00 00:00:00"), "");
  EXPECT_EQ(taken("    :  :     :  :  "), "");
  EXPECT_EQ(taken("2024:13:17 08:30:00"), "");
  const PhotoFacts wrong =
      facts_of(exif_block({exif_text(0x010f, "Bush\nnell")}, {},
                          {exif_text(1, "N"), test::exif_angle(2, {95, 0, 0}), exif_text(3, "E"),
                           test::exif_angle(4, {10, 0, 0})}));
  EXPECT_EQ(wrong.camera, "Bush nell");
  EXPECT_FALSE(wrong.latitude) << "beyond the pole";
  EXPECT_FALSE(wrong.longitude) << "half a place is none";
}

/// Reading stays within a block that is cut short or changed anywhere.
TEST(Exif, MayBeDamagedAnywhere) {
  const std::string whole = test::sydney_exif();
  for (size_t i = 0; i <= whole.size(); ++i) {
    facts_of(whole.substr(0, i));
    if (i == whole.size()) break;
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ mask);
      facts_of(changed);
    }
  }
}

}  // namespace
}  // namespace vit::patch
