#include "tools/output/format.h"

#include <gtest/gtest.h>

#include "tools/output/json_depth.h"

namespace vit::tools {
namespace {

TEST(Formats, AreForPeople) {
  EXPECT_EQ(format_bytes(999), "999 bytes");
  EXPECT_EQ(format_bytes(1000), "1.0 kB");
  EXPECT_EQ(format_bytes(999'949), "999.9 kB");
  EXPECT_EQ(format_bytes(999'950), "1.0 MB");
  EXPECT_EQ(format_bytes(346'293'852), "346.3 MB");
  EXPECT_EQ(format_bytes(1'217'000'000), "1.22 GB");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(86'567'656), "86,567,656");
  EXPECT_EQ(format_percent(0.1234), "12.34 %");
  EXPECT_EQ(format_percent(0.1234f, 0), "12 %");
  EXPECT_EQ(format_percent(1.0, 1), "100.0 %");
  EXPECT_EQ(format_percent(std::nullopt), "–");
}

TEST(Json, IsKnownToBeDeepBeforeItIsParsed) {
  const auto nested = [](size_t depth) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += i % 2 == 0 ? "[" : "{\"a\":";
    return text;
  };
  EXPECT_FALSE(nests_deep(nested(64)));
  EXPECT_TRUE(nests_deep(nested(65)));
  std::string flat = "[";
  for (int i = 0; i < 100; ++i) flat += R"([{}, "\"[[[[[\\"],)";
  EXPECT_FALSE(nests_deep(flat));
  EXPECT_FALSE(nests_deep("\"" + nested(100)));
  EXPECT_FALSE(nests_deep("]]]\\"));
}

}  // namespace
}  // namespace vit::tools
