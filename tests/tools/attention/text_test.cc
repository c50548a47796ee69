#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "patch/image/image.h"
#include "tools/draw/canvas.h"
#include "tools/draw/heading.h"
#include "tools/draw/typesetter.h"
#include "tools/draw/vector_file.h"

namespace vit::tools {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Picture with_text(std::string_view text, const TextLook& look = {}) {
  Picture picture{blank(300, 40)};
  draw_text(picture, text, 10.0, 25.0, look);
  return picture;
}

std::vector<std::uint8_t> pixels_of(std::string_view text) {
  return flattened(with_text(text)).pixels;
}

/// Columns that have ink, first and last.
std::pair<size_t, size_t> inked(const Image& image) {
  size_t first = image.width, last = 0;
  for (size_t y = 0; y < image.height; ++y)
    for (size_t x = 0; x < image.width; ++x)
      if (image.row(y)[3 * x] < 200) {
        first = std::min(first, x);
        last = std::max(last, x);
      }
  return {first, last};
}

TEST(Text, FitsAndIsDrawn) {
  const TextLook look{.height = 10.0};
  EXPECT_GT(text_width("wide text", look), text_width("text", look));
  EXPECT_LE(text_width(fitting("a text that is too long", 80, look), look), 80u);
  EXPECT_EQ(fitting("short", 200, look), "short");
  EXPECT_NE(pixels_of("x"), blank(300, 40).pixels);
  Picture narrow{blank(100, 30)};
  draw_text(narrow, "beyond", 95.0, 29.0, look);  // what does not fit is left out
  draw_upwards(narrow, "beyond", 2.0, 10.0, look);
  EXPECT_EQ(flattened(narrow).width, 100u);
}

TEST(Text, IsCutBetweenCharactersNotBytes) {
  const TextLook look{.height = 10.0};
  const std::string cut =
      fitting("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 50, look);
  EXPECT_THAT(cut, StartsWith("\xC3\xA4"));
  EXPECT_TRUE(cut.ends_with("..."));
  EXPECT_EQ((cut.size() - 3) % 2, 0u) << cut;
}

TEST(Text, EveryCharacterIsSeen) {
  // Neither question marks for all nor one glyph for all unknown letters.
  EXPECT_NE(pixels_of("K\xC3\xA4se"), pixels_of("K?se"));
  EXPECT_NE(pixels_of("K\xC3\xA4se"), pixels_of("K\xC3\xB6se"));
  EXPECT_NE(pixels_of("\xE6\x97\xA5"), pixels_of("\xE6\x9C\xAC"));
  EXPECT_NE(pixels_of("\xFF\xFE"), blank(300, 40).pixels) << "not UTF-8";
}

TEST(Text, AccentsTakeNoMoreSpaceThanTheirLetters) {
  if (!has_fonts()) GTEST_SKIP() << "no font is installed";
  const TextLook look{.height = 20.0};
  EXPECT_EQ(text_width("K\xC3\xA4se", look), text_width("Kase", look));
  EXPECT_GT(text_width("Kase", {.height = 20.0, .bold = true}), text_width("Kase", look));
}

TEST(Text, CapitalsAreAsHighAsAsked) {
  if (!has_fonts()) GTEST_SKIP() << "no font is installed";
  Picture picture{blank(100, 60)};
  draw_text(picture, "H", 10.0, 50.0, {.height = 30.0});
  const Image image = flattened(picture);
  size_t rows = 0;
  for (size_t y = 0; y < image.height; ++y) {
    bool ink = false;
    for (size_t x = 0; x < image.width; ++x) ink = ink || image.row(y)[3 * x] < 128;
    rows += ink ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(rows), 30.0, 1.0);
}

TEST(Text, IsDrawnAtTheEndWhereItIsAligned) {
  for (const auto& [align, x] : {std::pair{Align::kLeft, 100.0}, {Align::kRight, 200.0}}) {
    Picture picture{blank(300, 40)};
    draw_text(picture, "HHH", x, 25.0, {.align = align});
    const auto [first, last] = inked(flattened(picture));
    EXPECT_NEAR(static_cast<double>(align == Align::kLeft ? first : last), x, 3.0);
  }
}

TEST(Text, ShrinksBeforeItIsCut) {
  const TextLook look{.height = 10.0};
  const std::string text = "German short-haired pointer";
  const size_t room = text_width(text, look) * 3 / 4;
  Picture picture{blank(400, 40)};
  draw_within(picture, text, room, 0.0, 20.0, look);
  ASSERT_EQ(picture.texts.size(), 1u);
  EXPECT_EQ(picture.texts[0].text, text);
  EXPECT_LT(picture.texts[0].look.height, 10.0);
  draw_within(picture, text, room / 2, 0.0, 20.0, look);
  EXPECT_TRUE(picture.texts[1].text.ends_with("..."));
}

TEST(Text, HeadingsStateTheWidthTheyNeed) {
  const Heading heading{"a title", std::string(60, 'm')};
  Picture picture{blank(heading_width(heading, 20), kHeadingHeight)};
  draw_heading(picture, heading, 20);
  ASSERT_EQ(picture.texts.size(), 2u);
  EXPECT_EQ(picture.texts[1].text, heading.detail);
  EXPECT_LE(heading_width({std::string(5000, 'm'), ""}, 20), 1600u);
}

TEST(Text, ThePlottersLettersShowTheCodesOfOthers) {
  EXPECT_EQ(code_of(U'\u65E5'), "[65E5]");
  Image one = blank(200, 40), other = blank(200, 40), turned = blank(40, 200);
  plot_text("\xE6\x97\xA5", 5.0, 25.0, false, {}, one);
  plot_text("\xE6\x9C\xAC", 5.0, 25.0, false, {}, other);
  plot_text("abc", 25.0, 150.0, true, {}, turned);
  EXPECT_NE(one.pixels, other.pixels);
  EXPECT_NE(turned.pixels, blank(40, 200).pixels);
  EXPECT_GT(plot_width("abc", {}), plot_width("ab", {}));
}

TEST(VectorFile, SvgKeepsTextAsText) {
  const std::string svg = svg_of(with_text("K\xC3\xA4se & <b>\x01", {.bold = true}));
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"300\""));
  EXPECT_THAT(svg, HasSubstr("K\xC3\xA4se &amp; &lt;b&gt;"));
  EXPECT_THAT(svg, HasSubstr("font-weight=\"bold\""));
  EXPECT_THAT(svg, HasSubstr("data:image/png;base64,"));
  EXPECT_THAT(svg, Not(HasSubstr("\x01")));
}

TEST(VectorFile, PdfFindsItsObjects) {
  Picture picture = with_text("a title");
  draw_upwards(picture, "an axis", 280.0, 20.0, {});
  const std::string pdf = encode_picture(picture, ".pdf");
  EXPECT_THAT(pdf, StartsWith("%PDF-1.4\n"));
  EXPECT_THAT(pdf, HasSubstr("/MediaBox [0 0 225.00 30.00]"));
  EXPECT_TRUE(pdf.ends_with("%%EOF\n"));
  const size_t start = std::stoul(pdf.substr(pdf.rfind("startxref\n") + 10));
  ASSERT_EQ(pdf.substr(start, 9), "xref\n0 6\n");
  for (size_t object = 1; object <= 5; ++object) {
    const size_t place = std::stoul(pdf.substr(start + 9 + 20 * object, 10));
    EXPECT_EQ(pdf.substr(place, 8), std::to_string(object) + " 0 obj\n");
  }
}

}  // namespace
}  // namespace vit::tools
