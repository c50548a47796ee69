#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vit/text/clean.h"
#include "vit/text/html.h"
#include "vit/text/repair.h"
#include "vit/text/unicode.h"
#include "vit/text/words.h"

namespace vit::text {
namespace {

using testing::ElementsAre;

std::string cleaned(std::string_view text, TextCleaning cleaning) {
  return encode_utf8(clean(decode_utf8(text, "text"), cleaning));
}

std::string unescaped(std::string_view text) {
  return encode_utf8(unescape_html(decode_utf8(text, "text")));
}

std::string repaired(std::string_view text) {
  return encode_utf8(repair_text(decode_utf8(text, "text")));
}

TEST(Html, ReadsNamesWithAndWithoutSemicolonTheLongestFirst) {
  EXPECT_EQ(unescaped("&notit; &copy2024 &eacute; &unknown; &"),
            "\u00ACit; \u00A92024 \u00E9 &unknown; &");
}

TEST(Html, ReadsNumbersAsBrowsersDo) {
  EXPECT_EQ(unescaped("&#65;&#x42 &#0;&#x80;&#xD800;&#99999999999;&#1;&#;"),
            "AB \uFFFD\u20AC\uFFFD\uFFFD&#;");
}

TEST(Repair, ReadsUtf8ThatWasTakenForWindows1252) {
  EXPECT_EQ(repaired("sch\u00C3\u00B6n don\u00E2\u20AC\u2122t"), "sch\u00F6n don't");
  EXPECT_EQ(repaired("S\u00E3o Paulo, caf\u00E9 \u00C0 la carte"),
            "S\u00E3o Paulo, caf\u00E9 \u00C0 la carte");
}

TEST(Repair, LeavesAccentsBesideTypographyAlone) {
  EXPECT_EQ(repaired("\u00AB\u00A0caf\u00E9\u00A0\u00BB"), "\u00AB\u00A0caf\u00E9\u00A0\u00BB");
  EXPECT_EQ(repaired("the caf\u00E9\u2014\u201CChez Nous\u201D\u2014is"),
            "the caf\u00E9\u2014\"Chez Nous\"\u2014is");
  EXPECT_EQ(repaired("\u00E4\u00B8\u00AD\u00E6\u2013\u2021"), "\u4E2D\u6587");
}

TEST(Repair, ReplacesQuotesLigaturesWidthsControlsAndEscapes) {
  EXPECT_EQ(repaired("\u201Cof\uFB01ce\u201D \uFF21\u3000\x1B[31mred\x07"), "\"office\" A red");
}

TEST(Repair, LeavesReferencesInLinesWithTagsAlone) {
  EXPECT_EQ(repaired("<b>&amp;"), "<b>&amp;");
  EXPECT_EQ(repaired("&amp;amp;"), "&");
}

TEST(Clean, DoesWhatEachFamilyDoes) {
  const auto* text = "  Fish_&amp;  CHIPS!\n";
  EXPECT_EQ(cleaned(text, TextCleaning::kNone), text);
  EXPECT_EQ(cleaned(text, TextCleaning::kLower), "  fish_&amp;  chips!\n");
  EXPECT_EQ(cleaned(text, TextCleaning::kRepairLower), "fish_& chips!");
  EXPECT_EQ(cleaned(text, TextCleaning::kRepairSpaces), "Fish_& CHIPS!");
  EXPECT_EQ(cleaned(text, TextCleaning::kRepairCanonical), "fish chips");
  EXPECT_EQ(cleaned(text, TextCleaning::kCanonical), "fishamp chips");
}

TEST(Lowercase, GivesTheFinalSigmaOnlyInContext) {
  const std::u32string text = U"\u039F\u0394\u039F\u03A3 \u03A3";
  EXPECT_EQ(lowercase(text), U"\u03BF\u03B4\u03BF\u03C3 \u03C3");
  EXPECT_EQ(lowercase_in_context(text), U"\u03BF\u03B4\u03BF\u03C2 \u03C3");
  EXPECT_EQ(lowercase(U"\u0130"), U"i\u0307");
}

TEST(Words, OfClipDropSpacesAndSplitDigits) {
  EXPECT_THAT(clip_words(U"it's 42 ok!?"), ElementsAre(U"it", U"'s", U"4", U"2", U"ok", U"!?"));
}

TEST(Words, OfOpenAiTakeTheLongSForAnS) {
  EXPECT_THAT(clip_words(U"it'\u017F", {}, Case::kFolded), ElementsAre(U"it", U"'\u017F"));
  EXPECT_THAT(clip_words(U"it'\u017F"), ElementsAre(U"it", U"'", U"\u017F"));
}

TEST(Words, OfGpt2KeepOneSpaceBeforeThem) {
  EXPECT_THAT(gpt2_words(U"it's  42 ok  "), ElementsAre(U"it", U"'s", U" ", U" 42", U" ok", U"  "));
}

TEST(Words, OfBertSplitOffPunctuation) {
  EXPECT_THAT(bert_words(U"don't  stop."), ElementsAre(U"don", U"'", U"t", U"stop", U"."));
}

}  // namespace
}  // namespace vit::text
