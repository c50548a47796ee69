#include "tools/output/unicode.h"

#include <gtest/gtest.h>

namespace vit::tools {
namespace {

TEST(Printable, LeavesTextOfAnyLanguageAlone) {
  EXPECT_EQ(printable("tabby cat"), "tabby cat");
  EXPECT_EQ(printable("Käse 猫 🐈"), "Käse 猫 🐈");
}

TEST(Printable, ShowsWhatWouldDriveTheTerminal) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // C1: CSI
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
}

TEST(Printable, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("caf\xe9.jpg"), "caf\\xe9.jpg");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xe0\x80\x80"), "\\xe0\\x80\\x80");  // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

TEST(DisplayWidth, CountsTerminalColumns) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("cat"), 3u);
  EXPECT_EQ(display_width("Käse"), 4u);
  EXPECT_EQ(display_width("猫"), 2u);
  EXPECT_EQ(display_width("🐈"), 2u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);
}

TEST(Fit, FillsAndCutsToTheColumn) {
  EXPECT_EQ(fit("cat", 5), "cat  ");
  EXPECT_EQ(fit("cat", 3), "cat");
  EXPECT_EQ(fit("tabby cat", 6), "tabby…");
  EXPECT_EQ(fit("猫猫猫", 5), "猫猫…");
  EXPECT_EQ(fit("猫猫猫", 4), "猫… ");
  EXPECT_EQ(fit("cat", 1), "…");
  EXPECT_EQ(fit("cat", 0), "");
}

TEST(Padded, AlignsAtTheRight) {
  EXPECT_EQ(padded("cat", 5), "  cat");
  EXPECT_EQ(padded("–", 3), "  –");
  EXPECT_EQ(padded("tabby", 3), "tabby");
}

}  // namespace
}  // namespace vit::tools
