/// A rule for the texts of the library: they name no option and no command of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/paths.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// The end of the literal that opens at `at`, behind its last quote.
size_t end_of_literal(std::string_view code, size_t at) {
  const char quote = code[at++];
  while (at < code.size() && code[at] != quote) at += code[at] == '\\' ? 2 : 1;
  return at + 1;
}

bool opens_literal(std::string_view code, size_t at) {
  if (code[at] == '"') return true;
  if (code[at] != '\'') return false;
  size_t word = at;  // an apostrophe within a number is part of it
  while (word > 0 &&
         (std::isalnum(static_cast<unsigned char>(code[word - 1])) != 0 || code[word - 1] == '\''))
    --word;
  return std::isdigit(static_cast<unsigned char>(code[word])) == 0;
}

/// Comments become spaces, so that lines keep their numbers.
std::string without_comments(std::string code) {
  for (size_t at = 0; at < code.size();) {
    if (opens_literal(code, at)) {
      at = end_of_literal(code, at);
    } else if (code.compare(at, 2, "//") == 0) {
      while (at < code.size() && code[at] != '\n') code[at++] = ' ';
    } else {
      ++at;
    }
  }
  return code;
}

bool names_option(std::string_view literal) {
  for (size_t at = literal.find("--"); at != literal.npos; at = literal.find("--", at + 1))
    if (at + 2 < literal.size() && is_letter(literal[at + 2]) &&
        (at == 0 || literal[at - 1] != '-'))
      return true;
  return false;
}

/// "vit pull": the tools' folders have the commands' names.
bool names_command(std::string_view literal) {
  constexpr std::string_view kProgram = "vit ";
  for (size_t at = literal.find(kProgram); at != literal.npos;
       at = literal.find(kProgram, at + 1)) {
    const std::string_view rest = literal.substr(at + kProgram.size());
    const auto end = std::ranges::find_if_not(rest, is_letter);
    const std::string word(rest.begin(), end);
    if (!word.empty() && (at == 0 || !is_letter(literal[at - 1])) &&
        fs::exists(vit::test::source_dir() / "tools" / word / (word + ".cc")))
      return true;
  }
  return false;
}

/// Each as "file:line: rule".
std::vector<std::string> violations_in(const std::string& path, const std::string& content) {
  const std::string code = without_comments(content);
  std::vector<std::string> found;
  size_t line = 1;
  for (size_t at = 0; at < code.size();) {
    line += code[at] == '\n';
    if (!opens_literal(code, at)) {
      ++at;
      continue;
    }
    const size_t end = end_of_literal(code, at);
    const std::string_view literal = std::string_view(code).substr(at, end - at);
    if (names_command(literal))
      found.push_back(path + ":" + std::to_string(line) +
                      ": names a command of the program, which users of the library do not have");
    if (names_option(literal))
      found.push_back(path + ":" + std::to_string(line) +
                      ": names a command-line option, which users of the library do not have");
    at = end;
  }
  return found;
}

std::string read(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(LayeringMessages, OfTheLibraryNameNoOptionAndNoCommand) {
  size_t files = 0;
  for (const auto* top : {"vit", "patch", "weights"})
    for (const auto& entry : fs::recursive_directory_iterator(vit::test::source_dir() / top)) {
      const auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc" && extension != ".inl") continue;
      ++files;
      const std::string name = fs::relative(entry.path(), vit::test::source_dir()).string();
      for (const auto& violation : violations_in(name, read(entry.path())))
        ADD_FAILURE() << violation;
    }
  EXPECT_GT(files, 30u);
}

TEST(LayeringMessagesRules, RefuseCommandsInTextsAlone) {
  EXPECT_THAT(violations_in("weights/a.cc", "fail(name, \": get it: vit pull \", name);\n"),
              ElementsAre("weights/a.cc:1: names a command of the program, which users of the "
                          "library do not have"));
  EXPECT_THAT(violations_in("vit/a.cc", "f(\"installed with vit and more\");  // \"vit pull\"\n"),
              IsEmpty());
}

TEST(LayeringMessagesRules, RefuseOptionsInTextsAlone) {
  EXPECT_THAT(violations_in("weights/a.cc", "\n  fail(\"give the number (--heads N)\");\n"),
              ElementsAre("weights/a.cc:2: names a command-line option, which users of the library "
                          "do not have"));
  EXPECT_THAT(violations_in("vit/a.cc", "i--; // --heads\nf(\"---\", '\"', 10'000, U'-'); --i;\n"),
              IsEmpty());
}

}  // namespace
