/// The plan of the house, kept by a machine: who may include whom, what stays out of the library,
/// how long a file may be, what lies at the top level.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/paths.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kMostLines = 400;

struct Room {
  std::string folder;
  bool library = false;
  std::vector<std::string> may_use;  ///< besides itself
};

const std::vector<std::string> kBeforeModel{"vit/base", "vit/kernels", "weights",
                                            "patch",    "vit/encoder", "vit/text"};

std::vector<std::string> with(std::vector<std::string> rooms,
                              const std::vector<std::string>& more) {
  rooms.insert(rooms.end(), more.begin(), more.end());
  return rooms;
}

/// A longer folder comes before the shorter one that contains it.
const std::vector<Room>& rooms() {
  static const auto library =
      with(kBeforeModel, {"vit/model", "vit/data", "vit/gradient", "vit/interpret", "vit/train"});
  static const std::vector<Room> table{
      {"vit/base", true, {}},
      {"vit/kernels", true, {"vit/base"}},
      {"weights", true, {"vit/base"}},
      {"patch", true, {"vit/base", "vit/kernels"}},
      {"vit/encoder", true, {"vit/base", "vit/kernels"}},
      {"vit/text", true, {"vit/base", "vit/kernels", "vit/encoder", "weights"}},
      {"vit/model", true, kBeforeModel},
      {"vit/data", true, {"vit/base", "patch"}},
      {"vit/gradient", true, with(kBeforeModel, {"vit/model"})},
      {"vit/interpret", true, with(kBeforeModel, {"vit/model", "vit/gradient"})},
      {"vit/train", true, with(kBeforeModel, {"vit/model", "vit/data", "vit/gradient"})},
      {"vit", true, library},  // the umbrella header
      {"tools", false, with(library, {"vit"})},
      {"tests", false, with(library, {"vit", "tools"})},
      {"bench", false, with(library, {"vit", "tools", "tests"})},
  };
  return table;
}

struct Outside {
  std::string prefix;
  std::vector<std::string> rooms;  ///< tests and bench may include anything
};

const std::vector<Outside>& outside_headers() {
  static const std::vector<Outside> table{
      {"opencv2/", {"patch", "tools"}},
      {"jpeglib.h", {"patch"}},
      {"png.h", {"patch"}},
      {"dlfcn.h", {"patch"}},
      {"cblas.h", {"vit/kernels"}},
      {"nlohmann/", {"weights", "vit/text", "tools"}},
      {"zip.h", {"weights", "tools"}},
      {"zlib.h", {"weights", "vit/data", "vit/text", "tools"}},
      {"utf8proc.h", {"vit/text"}},
      {"curl/", {"tools"}},
      {"openssl/", {"tools"}},
      {"sqlite3.h", {"tools"}},
      {"cxxopts.hpp", {"tools"}},
      {"gtest/", {}},
      {"gmock/", {}},
      {"benchmark/", {}},
      {"iostream", {"tools"}},
  };
  return table;
}

const Room* room_of(const std::string& path) {
  for (const auto& room : rooms())
    if (path.starts_with(room.folder + "/")) return &room;
  return nullptr;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing of the house" : text;
}

/// Empty, or the rule that `room` breaks by including "header" of the house.
std::string broken_by_own(const Room& room, const std::string& header) {
  const Room* target = room_of(header);
  if (target == nullptr) return "includes \"" + header + "\", which is no path from the top level";
  if (target == &room || contains(room.may_use, target->folder)) return {};
  return "includes \"" + header + "\", but " + room.folder + " may use " + joined(room.may_use);
}

/// Empty, or the rule that `room` breaks by including <header> from outside.
std::string broken_by_outside(const Room& room, const std::string& header) {
  if (room.folder == "tests" || room.folder == "bench") return {};
  for (const auto& outside : outside_headers())
    if (header.starts_with(outside.prefix) && !contains(outside.rooms, room.folder))
      return "includes <" + header + ">, which belongs to " +
             (outside.rooms.empty() ? "the tests" : joined(outside.rooms));
  return {};
}

/// Whether `line` calls or names `word`, not as a part of another.
bool mentions(std::string_view line, std::string_view word) {
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(line[at - 1])) && (end >= line.size() || !is_letter(line[end])))
      return true;
  }
  return false;
}

std::string broken_by_code(const Room& room, std::string_view code) {
  if (!room.library) return {};
  for (const auto* word : {"cout", "cerr", "clog", "printf", "fprintf", "puts", "fputs"})
    if (mentions(code, word)) return std::string("uses ") + word + ", but the library never prints";
  for (const auto* word : {"exit", "_exit", "quick_exit", "abort", "terminate"})
    if (mentions(code, std::string(word)) && code.find(std::string(word) + "(") != code.npos)
      return std::string("calls ") + word + ", but the library never ends the program";
  return {};
}

std::string broken_by_line(const Room& room, std::string_view line) {
  line = line.substr(0, line.find("//"));
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == line.npos) return {};
  if (!line.substr(hash).starts_with("#include")) return broken_by_code(room, line);
  const size_t open = line.find_first_of("\"<");
  if (open == line.npos) return {};
  const size_t close = line.find_first_of("\">", open + 1);
  const std::string header(line.substr(open + 1, close - open - 1));
  return line[open] == '"' ? broken_by_own(room, header) : broken_by_outside(room, header);
}

/// Each as "file:line: rule".
std::vector<std::string> violations_in(const std::string& path, const std::string& content) {
  std::vector<std::string> found;
  const Room* room = room_of(path);
  if (room == nullptr) return {path + ":1: lies in no room of the house"};
  std::istringstream stream(content);
  std::string line;
  size_t number = 0;
  while (std::getline(stream, line)) {
    ++number;
    const std::string rule = broken_by_line(*room, line);
    if (!rule.empty()) found.push_back(path + ":" + std::to_string(number) + ": " + rule);
  }
  if (number > kMostLines)
    found.push_back(path + ":" + std::to_string(number) + ": longer than " +
                    std::to_string(kMostLines) + " lines");
  return found;
}

std::vector<std::string> strangers_among(const std::vector<std::string>& top_level) {
  const std::set<std::string> allowed{"CMakeLists.txt", "vit",   "patch",   "tools",
                                      "tests",          "bench", "weights", "README.md"};
  std::vector<std::string> strangers;
  for (const auto& name : top_level)
    if (!allowed.contains(name) && !name.starts_with('.') && !name.starts_with("build"))
      strangers.push_back(name);
  return strangers;
}

std::vector<std::string> source_files() {
  std::vector<std::string> files;
  for (const auto* top : {"vit", "patch", "weights", "tools", "tests", "bench"}) {
    if (!fs::exists(vit::test::source_dir() / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(vit::test::source_dir() / top)) {
      const auto extension = entry.path().extension();
      if (extension == ".h" || extension == ".cc" || extension == ".inl")
        files.push_back(fs::relative(entry.path(), vit::test::source_dir()).string());
    }
  }
  return files;
}

std::string read(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Layering, EverySourceLooksOnlyBackAlongTheWay) {
  const auto files = source_files();
  EXPECT_GT(files.size(), 30u) << "the sources were not found under " << vit::test::source_dir();
  for (const auto& file : files)
    for (const auto& violation : violations_in(file, read(vit::test::source_dir() / file)))
      ADD_FAILURE() << violation;
}

TEST(Layering, TheTopLevelHoldsOnlyItsFixedNames) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(vit::test::source_dir()))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(strangers_among(names), IsEmpty());
}

TEST(LayeringRules, NameFileLineAndRuleOfAnIncludeThatLooksForward) {
  EXPECT_THAT(
      violations_in("vit/base/a.h", "#pragma once\n#include \"patch/image.h\"\n"),
      ElementsAre("vit/base/a.h:2: includes \"patch/image.h\", but vit/base may use nothing "
                  "of the house"));
  EXPECT_THAT(
      violations_in("weights/formats/a.cc", "#include \"vit/kernels/gemm.h\"\n"),
      ElementsAre("weights/formats/a.cc:1: includes \"vit/kernels/gemm.h\", but weights may "
                  "use vit/base"));
  EXPECT_THAT(violations_in("vit/model/a.cc", "  #include \"tools/command.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("tools/a.cc", "#include \"tests/support/a.h\"\n"), testing::SizeIs(1));
}

TEST(LayeringRules, LetARoomUseItselfAndTheRoomsBehindIt) {
  EXPECT_THAT(
      violations_in("patch/a.cc", "#include \"patch/a.h\"\n#include \"vit/base/matrix.h\"\n"),
      IsEmpty());
  EXPECT_THAT(violations_in("vit/vit.h", "#include \"vit/model/classifier.h\"\n"), IsEmpty());
  EXPECT_THAT(violations_in("tests/a.cc", "#include \"tools/command.h\"\n"), IsEmpty());
}

TEST(LayeringRules, RefuseIncludesRelativeToTheirOwnFolder) {
  EXPECT_THAT(
      violations_in("patch/a.cc", "#include \"image.h\"\n"),
      ElementsAre("patch/a.cc:1: includes \"image.h\", which is no path from the top level"));
}

TEST(LayeringRules, KeepOutsideLibrariesInTheirRooms) {
  EXPECT_THAT(violations_in("vit/model/a.cc", "#include <opencv2/core.hpp>\n"),
              ElementsAre("vit/model/a.cc:1: includes <opencv2/core.hpp>, which belongs to patch, "
                          "tools"));
  EXPECT_THAT(violations_in("patch/a.cc", "#include <opencv2/core.hpp>\n"), IsEmpty());
  EXPECT_THAT(violations_in("vit/encoder/a.cc", "#include <cblas.h>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations_in("patch/a.cc", "#include <nlohmann/json.hpp>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations_in("vit/base/a.cc", "#include <zip.h>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations_in("weights/a.cc", "#include <curl/curl.h>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations_in("weights/a.cc", "#include <zip.h>\n#include <vector>\n"), IsEmpty());
}

TEST(LayeringRules, KeepTheLibrarySilentAndAlive) {
  EXPECT_THAT(violations_in("vit/base/a.cc", "#include <iostream>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations_in("weights/a.cc", "  std::cerr << 1;\n"),
              ElementsAre("weights/a.cc:1: uses cerr, but the library never prints"));
  EXPECT_THAT(violations_in("patch/a.cc", "  std::exit(1);\n"),
              ElementsAre("patch/a.cc:1: calls exit, but the library never ends the program"));
  EXPECT_THAT(violations_in("patch/a.cc", "std::snprintf(a, 1, b);  // never std::exit(1)\n"),
              IsEmpty());
  EXPECT_THAT(violations_in("tools/a.cc", "std::cout << 1; std::exit(1);\n"), IsEmpty());
}

TEST(LayeringRules, RefuseLongFiles) {
  EXPECT_THAT(violations_in("patch/a.cc", std::string(kMostLines, '\n')), IsEmpty());
  EXPECT_THAT(violations_in("patch/a.cc", std::string(kMostLines + 1, '\n')),
              ElementsAre("patch/a.cc:401: longer than 400 lines"));
}

TEST(LayeringRules, RefuseStrangersAtTheTopLevel) {
  EXPECT_THAT(strangers_among({"vit", "README.md", ".ci", "build-sanitize", "notes.txt"}),
              ElementsAre("notes.txt"));
}

}  // namespace
