#include "vit/base/encoding.h"

#include <gtest/gtest.h>

namespace vit {
namespace {

TEST(Hex, IsReadBackAndRefusedWhereItIsMalformed) {
  const std::string bytes("\x00\x7f\x80\xff", 4);
  EXPECT_EQ(to_hex(bytes), "007f80ff");
  EXPECT_EQ(from_hex("007F80fF"), bytes);
  EXPECT_EQ(from_hex(""), "");
  for (const auto* wrong : {"0", "0g", "g0", " 0", "-1", "+1", "0x"})
    EXPECT_EQ(from_hex(wrong), std::nullopt) << wrong;
}

TEST(Hex, WritesNumbersWithTheirLeadingZeros) {
  EXPECT_EQ(hex_number(0x0123456789abcdef), "0123456789abcdef");
  EXPECT_EQ(hex_number(0xab, 8), "000000ab");
}

TEST(Base64, TakesTheDigitsBeforeWhatIsNone) {
  std::string_view text = "Zm9vYg!x";
  EXPECT_EQ(take_base64(text), "foob");
  EXPECT_EQ(text, "!x");
  text = "Zm9vY";
  EXPECT_EQ(take_base64(text), "foo");
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace vit
