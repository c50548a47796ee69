#include "tools/output/predictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace vit::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

ImageResult two_cats() {
  return {.file = "cat.jpg",
          .error = {},
          .predictions = {{281, "tabby", 0.75f}, {285, "Egyptian cat", 0.125f}},
          .logits = {}};
}

TEST(Bar, GrowsInEighthsOfAColumn) {
  EXPECT_EQ(bar(0.0f, 4), "");
  EXPECT_EQ(bar(1.0f, 4), "████");
  EXPECT_EQ(bar(0.5f, 4), "██");
  EXPECT_EQ(bar(1.0f / 32.0f, 4), "▏");
  EXPECT_EQ(bar(0.46875f, 4), "█▉");
}

TEST(Bar, StaysInsideItsWidth) {
  EXPECT_EQ(bar(2.0f, 2), "██");
  EXPECT_EQ(bar(-1.0f, 2), "");
  EXPECT_EQ(bar(std::numeric_limits<float>::quiet_NaN(), 2), "");
}

TEST(Text, AlignsRankLabelPercentageAndBar) {
  EXPECT_EQ(to_text(two_cats(), {}),
            "cat.jpg\n"
            "  1  tabby          75.00 %  ███████████████\n"
            "  2  Egyptian cat   12.50 %  ██▌\n");
}

TEST(Text, AlignsRanksOfTwoDigits) {
  ImageResult result = two_cats();
  result.predictions.resize(10, {0, "x", 0.0f});
  const std::string text = to_text(result, {});
  EXPECT_THAT(text, HasSubstr("\n   1  tabby "));
  EXPECT_THAT(text, HasSubstr("\n  10  x "));
}

TEST(Text, CutsLongLabelsOnATerminalOnly) {
  ImageResult result = two_cats();
  result.predictions[1].label = std::string(100, 'a');
  EXPECT_THAT(to_text(result, {.columns = 60}), HasSubstr(std::string(100, 'a')));
  const std::string cut = to_text(result, {.columns = 60, .whole_labels = false});
  EXPECT_THAT(cut, Not(HasSubstr(std::string(30, 'a'))));
  EXPECT_THAT(cut, HasSubstr("aaa…   12.50 %"));
}

TEST(Text, SaysWhenNoClassIsProbable) {
  ImageResult result = two_cats();
  EXPECT_THAT(to_text(result, {.classes = 200}), Not(HasSubstr("not sure")));
  result.predictions[0].probability = 0.24f;
  EXPECT_THAT(to_text(result, {.classes = 200}),
              HasSubstr("\n  not sure: the image may show none of the 200 known classes\n"));
  EXPECT_THAT(to_text(result, {}), Not(HasSubstr("not sure"))) << "groups, scores";
}

TEST(Text, HasColoursOnlyWhenAskedFor) {
  EXPECT_THAT(to_text(two_cats(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(to_text(two_cats(), {.colour = true}), HasSubstr("\x1b[1mcat.jpg\x1b[0m"));
}

TEST(Text, CallsTheAnswersOfMultiLabelModelsScores) {
  EXPECT_THAT(to_text(two_cats(), {.multi_label = true}), HasSubstr("scores"));
  EXPECT_THAT(to_text(two_cats(), {}), Not(HasSubstr("scores")));
}

TEST(Text, ShowsTheLogitBesideEachClassWhenAskedFor) {
  ImageResult result = two_cats();
  result.predictions = {{1, "dog", 0.9f}, {0, "cat", 0.1f}};
  result.logits = {-1.25f, 7.5f};
  EXPECT_THAT(to_text(result, {.logits = true}), HasSubstr("dog   90.00 %      7.5000  ██"));
}

TEST(Text, KeepsFileNamesFromDrivingTheTerminal) {
  ImageResult result = two_cats();
  result.file = "a\n\x1b[2Jb";
  EXPECT_THAT(to_text(result, {}), testing::StartsWith("a\\n\\x1b[2Jb\n"));
}

TEST(Json, KeepsTheOrderOfItsKeys) {
  ImageResult result = two_cats();
  result.predictions.resize(1);
  result.logits = {0.1f, -2.0f};
  EXPECT_EQ(json_image(result, true),
            R"({"file":"cat.jpg","predictions":[{"class":281,"label":"tabby","probability":0.75}],)"
            R"("logits":[0.1,-2.0]})");
}

TEST(Json, HasNoLogitsUnlessAskedFor) {
  EXPECT_THAT(json_image(two_cats(), false), Not(HasSubstr("logits")));
}

TEST(Json, SaysWhyAnImageHasNoPredictions) {
  EXPECT_EQ(json_image({.file = "a.jpg", .error = "empty", .predictions = {}, .logits = {}}, true),
            R"({"file":"a.jpg","error":"empty"})");
}

TEST(Json, GivesEveryFloatBackToTheBit) {
  ImageResult result = two_cats();
  for (int i = 0; i < 1000; ++i)
    result.logits.push_back(std::ldexp(1.0f + static_cast<float>(i) * 0x1p-23f, i % 200 - 100));
  const auto json = nlohmann::json::parse(json_image(result, true));
  for (size_t i = 0; i < result.logits.size(); ++i)
    EXPECT_EQ(static_cast<float>(json["logits"][i].get<double>()), result.logits[i]);
}

TEST(Json, IsValidForAnyFileNameAndAnyNumber) {
  ImageResult result = two_cats();
  result.file = "caf\xe9 \"quoted\"\n\x01.jpg";
  result.logits = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  const auto json = nlohmann::json::parse(json_image(result, true));
  EXPECT_EQ(json["file"], "caf\xef\xbf\xbd \"quoted\"\n\x01.jpg");
  EXPECT_TRUE(json["logits"][0].is_null());
}

TEST(Json, IsOneDocumentWithModelRecipeAndImages) {
  const std::string text = json_opening("tiny", Recipe{}) + json_image(two_cats(), false) + ",\n" +
                           json_image(two_cats(), false) + json_closing();
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["model"], "tiny");
  EXPECT_EQ(json["recipe"]["crop_height"], 224);
  EXPECT_EQ(json["recipe"]["mean"].size(), 3u);
  EXPECT_EQ(json["images"].size(), 2u);
}

TEST(Json, OfNoImagesIsADocumentToo) {
  EXPECT_TRUE(nlohmann::json::parse(json_opening("tiny", {}) + json_closing())["images"].empty());
}

}  // namespace
}  // namespace vit::tools
