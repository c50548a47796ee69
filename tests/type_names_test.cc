/// A rule that neither compiler nor linker checks: two types of one name in one namespace, in
/// headers that no source includes together, share their inline functions and containers, and the
/// linker keeps those of one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

/// "namespace::Type" of the types that a header defines at the level of its namespace, where
/// definitions begin their line, as the formatting makes sure.
std::vector<std::string> types_in(std::istream& header) {
  std::vector<std::string> types;
  std::string space;
  for (std::string line; std::getline(header, line);) {
    if (line.starts_with(' ')) continue;  // a member
    std::istringstream words(line);
    std::string first, name;
    words >> first >> name;
    if (first == "namespace" && line.ends_with('{')) space = name;
    if (first == "enum" && name == "class") words >> name;
    const bool defines = first == "struct" || first == "class" || first == "enum";
    if (defines && line.find('{') != line.npos && line.find('<') == line.npos)
      types.push_back(space + "::" + name);
  }
  return types;
}

/// The types with several headers, and these.
std::vector<std::string> shared_names(
    const std::map<std::string, std::vector<std::string>>& homes) {
  std::vector<std::string> found;
  for (const auto& [type, headers] : homes) {
    if (headers.size() < 2) continue;
    std::string text = type + ":";
    for (const std::string& header : headers) text += " " + header;
    found.push_back(text);
  }
  return found;
}

std::vector<std::string> findings(const fs::path& source) {
  std::map<std::string, std::vector<std::string>> homes;
  for (const auto* folder : {"vit", "patch", "weights", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (entry.path().extension() != ".h") continue;
      std::ifstream header(entry.path());
      for (const std::string& type : types_in(header))
        homes[type].push_back(fs::relative(entry.path(), source).string());
    }
  return shared_names(homes);
}

TEST(TypeNames, AreUniqueInTheirNamespace) {
  EXPECT_THAT(findings(vit::test::source_dir()), IsEmpty());
}

TEST(TypeNamesRule, FindsDefinitionsAndNothingElse) {
  std::istringstream header(
      "namespace vit {\n"
      "struct Later;\n"
      "struct Row {\n  struct Inner {\n  };\n};\n"
      "class Reader final : public Base {\n};\n"
      "enum class Kind { kOne };\n"
      "enum class Order {\n};\n"
      "}  // namespace vit\n"
      "namespace vit::tools {\n"
      "struct Row {\n};\n"
      "}\n");
  EXPECT_THAT(types_in(header),
              ElementsAre("vit::Row", "vit::Reader", "vit::Kind", "vit::Order", "vit::tools::Row"));
}

TEST(TypeNamesRule, NamesBothHeaders) {
  EXPECT_THAT(shared_names({{"vit::Row", {"a.h", "b.h"}}, {"vit::Box", {"a.h"}}}),
              ElementsAre("vit::Row: a.h b.h"));
}

}  // namespace
