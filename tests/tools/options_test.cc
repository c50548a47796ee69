#include "tools/cli/options.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tools/commands.h"

namespace vit::tools {
namespace {

std::string usage_error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string parse_error(std::vector<const char*> arguments) {
  cxxopts::Options options("vit test");
  options.add_options()("k,top", "", cxxopts::value<std::string>())("json", "")("logits", "");
  return usage_error_of([&] { parse(options, arguments); });
}

TEST(Parse, SuggestsTheOptionThatWasMeant) {
  EXPECT_EQ(parse_error({"--jsn"}), "unknown option '--jsn', did you mean '--json'?");
  EXPECT_EQ(parse_error({"--tpo=3", "a.jpg"}), "unknown option '--tpo', did you mean '--top'?");
  EXPECT_EQ(parse_error({"-json"}), "unknown option '-json', did you mean '--json'?");
  EXPECT_EQ(parse_error({"--logit"}), "unknown option '--logit', did you mean '--logits'?");
}

TEST(Parse, NamesAnOptionThatIsLikeNoOther) {
  EXPECT_EQ(parse_error({"--quantize"}), "unknown option '--quantize'");
  EXPECT_EQ(parse_error({"-x"}), "unknown option '-x'");
  EXPECT_EQ(parse_error({"-?"}), "unknown option '-?'");
}

TEST(Parse, NamesTheOptionWithoutItsValue) {
  EXPECT_EQ(parse_error({"a.jpg", "--top"}), "option '--top' needs a value");
  EXPECT_EQ(parse_error({"-k"}), "option '-k' needs a value");
}

TEST(Parse, KeepsCommasAndDashesInOperands) {
  cxxopts::Options options("vit test");
  options.add_options()("json", "");
  const std::vector<const char*> arguments{"a,b.jpg", "-", "--json", "--", "--odd"};
  EXPECT_EQ(parse(options, arguments).unmatched(),
            (std::vector<std::string>{"a,b.jpg", "-", "--odd"}));
}

TEST(ParseCount, TakesWholeNumbersInRangeAndNothingElse) {
  EXPECT_EQ(parse_count("--top", "5", 1, 10), 5u);
  EXPECT_EQ(parse_count("--top", "10", 1, 10), 10u);
  for (const auto* text :
       {"0", "11", "-1", "+1", "1.5", "5x", "x", "", " 5", "99999999999999999999"})
    EXPECT_EQ(
        usage_error_of([&] { parse_count("--top", text, 1, 10); }),
        "option '--top' got '" + std::string(text) + "', expected a whole number from 1 to 10");
}

TEST(ParsePositive, TakesFiniteNumbersAboveZeroAndNothingElse) {
  EXPECT_EQ(parse_positive("-t", "0.5"), 0.5f);
  EXPECT_EQ(parse_positive("-t", "2e1"), 20.0f);
  for (const auto* text : {"0", "-1", "nan", "inf", "1e99", "", "1,5", "warm"})
    EXPECT_EQ(usage_error_of([&] { parse_positive("-t", text); }),
              "option '-t' got '" + std::string(text) + "', expected a number above 0");
}

TEST(ParseNumber, TakesNumbersBetweenTheLimits) {
  EXPECT_EQ(parse_number("--share", "0.25", 0.0, 0.5), 0.25);
  EXPECT_EQ(parse_number("--share", "0.5", 0.0, 0.5), 0.5);
  for (const auto* text : {"0.51", "-1", "nan", "inf", "", "1,5", "much"})
    EXPECT_EQ(usage_error_of([&] { parse_number("--share", text, 0.0, 0.5); }),
              "option '--share' got '" + std::string(text) + "', expected a number from 0 to 0.5");
}

TEST(ParsePixelSize, TakesOneEdgeOrHeightTimesWidth) {
  EXPECT_EQ(parse_pixel_size("--image-size", "224"), (PixelSize{224, 224}));
  EXPECT_EQ(parse_pixel_size("--image-size", "128x96"), (PixelSize{128, 96}));
}

TEST(ParsePixelSize, SaysWhatASizeLooksLike) {
  for (const auto* text : {"", "0", "x", "224x", "x224", "224x0", "22.4", "1x2x3", "-8", "99999"})
    EXPECT_EQ(
        usage_error_of([&] { parse_pixel_size("--image-size", text); }),
        "option '--image-size' got '" + std::string(text) +
            "', expected N or HEIGHTxWIDTH in pixels, 1 to 16384 each, such as 224 or 224x320");
}

TEST(ParseChoice, ListsTheChoices) {
  const std::vector<std::pair<std::string_view, int>> choices{{"one", 1}, {"two", 2}, {"three", 3}};
  EXPECT_EQ(parse_choice("--n", "two", choices), 2);
  EXPECT_EQ(usage_error_of([&] { parse_choice("--n", "four", choices); }),
            "option '--n' got 'four', expected one, two or three");
}

TEST(Help, ShowsEveryOptionOfEveryCommand) {
  const std::vector<Command> all = commands();
  for (const Command& command : all) {
    testing::internal::CaptureStdout();
    const std::string name(command.name);
    const std::vector<const char*> arguments{"help", name.c_str()};
    run_program(all, arguments);
    const std::string help = testing::internal::GetCapturedStdout();
    const cxxopts::Options options = options_of(command);
    for (const std::string& group : options.groups())
      for (const auto& option : options.group_help(group).options)
        EXPECT_NE(help.find("--" + option.l.front()), help.npos)
            << name << " --" << option.l.front() << ", in the group '" << group << "'";
  }
}

}  // namespace
}  // namespace vit::tools
