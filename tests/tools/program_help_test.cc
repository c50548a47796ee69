#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Program, SaysItsVersion) {
  const Finished finished = run({"--version"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.out, "vit " VIT_VERSION "\n");
  EXPECT_EQ(finished.err, "");
}

TEST(Program, ListsItsCommandsOnHelp) {
  for (const auto* word : {"--help", "-h", "help"}) {
    const Finished finished = run({word});
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.out,
                AllOf(HasSubstr("  classify "), HasSubstr(" name the most likely classes")));
    EXPECT_EQ(finished.err, "");
  }
}

TEST(Program, ListsItsCommandsWhenCalledWithNothing) {
  const Finished finished = run(std::vector<std::string>{});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("vit: no command given\n"));
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("  classify "), HasSubstr(" name the most likely classes")));
}

TEST(Program, SuggestsTheCommandThatWasMeant) {
  const Finished finished = run({"clasify", "a.jpg"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err,
            "vit: unknown command 'clasify', did you mean 'classify'?\nvit: see 'vit --help'\n");
}

TEST(Program, NamesACommandThatIsLikeNoOther) {
  EXPECT_THAT(run({"photo.jpg"}).err, HasSubstr("vit: unknown command 'photo.jpg'\n"));
  EXPECT_THAT(run({"help", "photo.jpg"}).err, HasSubstr("vit: unknown command 'photo.jpg'\n"));
  EXPECT_THAT(run({"--verson"}).err,
              HasSubstr("vit: unknown option '--verson', did you mean '--version'?\n"));
}

TEST(Program, SaysTheNewNameOfARenamedCommand) {
  const Finished finished = run({"merge", "classes.csv"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err, "vit: the command 'merge' is now called 'join'\nvit: see 'vit --help'\n");
}

TEST(Program, SaysTheNewNamesOfRenamedOptions) {
  EXPECT_THAT(run({"classify", "--merge", "3", "a.jpg"}).err,
              HasSubstr("unknown option '--merge', did you mean '--merge-tokens'?\n"));
  EXPECT_THAT(run({"classify", "--ablate", "0:0", "a.jpg"}).err,
              HasSubstr("unknown option '--ablate', did you mean '--disable-heads'?\n"));
}

TEST(ClassifyHelp, IsTheSameByEitherWay) {
  const Finished by_option = run({"classify", "--help"});
  const Finished by_command = run({"help", "classify"});
  EXPECT_EQ(by_option.status, 0);
  EXPECT_EQ(by_option.err, "");
  EXPECT_EQ(by_option.out, by_command.out);
}

TEST(Help, DescriptionsAreAsWideAsOptions) {
  for (const auto* command : {"train", "models", "batch", "sort"}) {
    const std::string help = run({command, "--help"}).out;
    std::istringstream description(help.substr(0, help.find("Usage:")));
    for (std::string line; std::getline(description, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(ClassifyHelp, NamesEveryOptionItsDefaultAndExamples) {
  const std::string help = run({"classify", "--help"}).out;
  for (const auto* option :
       {"-m, --model MODEL", "-k, --top N", "--json", "--logits", "--image-size N|HxW",
        "--positions HOW", "--temperature T", "--threads N", "--exif HOW", "--heads N"})
    EXPECT_THAT(help, HasSubstr(option));
  EXPECT_THAT(help, HasSubstr("classes per image (default: 5)"));
  EXPECT_THAT(help, HasSubstr("\nExamples:\n  vit classify -m "));
}

}  // namespace
}  // namespace vit::tools
