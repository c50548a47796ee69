/// The architecture as a test: which module may include which, what stays out of the library, how
/// long a file may be, what is allowed at the top level.
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

struct Module {
  std::string folder;
  bool library = false;
  std::vector<std::string> may_use;  ///< folders or single headers, besides its own folder
};

const std::vector<std::string> kBeforeModel{"vit/base", "vit/kernels", "weights",
                                            "patch",    "vit/encoder", "vit/text"};

std::vector<std::string> with(std::vector<std::string> names,
                              const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

/// Commands use the shared folders of tools/, not each other; vit train is the one exception.
std::vector<Module> tools_modules() {
  const std::vector<std::string> library{"vit", "patch", "weights"};
  const auto shared = with(library, {"tools/cli", "tools/output", "tools/draw", "tools/sources"});
  const auto rows = with(shared, {"tools/inputs", "tools/rows"});
  const auto indexed = with(shared, {"tools/indexed"});
  std::vector<Module> modules{
      {"tools/output", false, library},
      {"tools/draw", false, with(library, {"tools/output"})},
      {"tools/sources", false, library},
      {"tools/cli", false, with(library, {"tools/output", "tools/sources"})},
      {"tools/inputs", false, with(library, {"tools/cli", "tools/output", "tools/sources"})},
      {"tools/rows", false, with(shared, {"tools/inputs"})},
      {"tools/indexed", false, with(shared, {"tools/inputs", "tools/rows/header.h"})},
      {"tools/index", false, with(rows, {"tools/indexed"})},
      {"tools/search", false, with(indexed, {"tools/rows/header.h"})},
      {"tools/duplicates", false, indexed},
      {"tools/cluster", false, indexed},
      {"tools/pick", false, with(rows, {"tools/indexed"})},
      {"tools/analysis", false, shared},
      {"tools/explorer", false, with(shared, {"tools/analysis"})},
      {"tools/attention", false, with(shared, {"tools/analysis", "tools/explorer"})},
      // Connections do not depend on images and models.
      {"tools/serve/http", false, {"vit/base", "tools/output"}},
      {"tools/serve", false, with(shared, {"tools/analysis", "tools/explorer"})},
      // vit train ends with the report of vit eval, and matches a teacher's classes as eval does.
      {"tools/train", false,
       with(shared, {"tools/eval/data.h", "tools/eval/predictions.h", "tools/eval/report.h"})},
  };
  for (const auto* name : {"batch", "embed", "export", "join", "sort"})
    modules.push_back({std::string("tools/") + name, false, rows});
  for (const auto* name : {"classify", "convert", "eval", "heads", "info", "models", "pull"})
    modules.push_back({std::string("tools/") + name, false, shared});
  modules.push_back({"tools", false, library});  // the program: its table of commands uses them all
  return modules;
}

/// A subfolder comes before the folder that contains it.
std::vector<Module> all_modules() {
  const auto library = with(kBeforeModel, {"vit/model", "vit/data", "vit/index", "vit/gradient",
                                           "vit/interpret", "vit/train", "vit/serving"});
  std::vector<Module> table{
      {"vit/base", true, {}},
      {"vit/kernels", true, {"vit/base"}},
      // The catalogue counts the parameters of a configuration.
      {"weights/known", true, {"vit/base", "weights/tensor_list.h"}},
      {"weights", true, {"vit/base"}},
      {"patch/image", true, {"vit/base"}},
      {"patch/video", true, {"vit/base", "patch/image"}},
      {"patch", true, {"vit/base", "vit/kernels"}},
      {"vit/encoder", true, {"vit/base", "vit/kernels"}},
      {"vit/text", true, {"vit/base", "vit/kernels", "vit/encoder", "weights"}},
      {"vit/model", true, kBeforeModel},
      {"vit/data", true, {"vit/base", "patch"}},
      // An index is mapped as weights are, and may hold numbers of 16 bits.
      {"vit/index",
       true,
       {"vit/base", "vit/kernels", "weights/formats/mapped_file.h", "weights/numbers.h"}},
      {"vit/gradient", true, with(kBeforeModel, {"vit/model"})},
      {"vit/interpret", true, with(kBeforeModel, {"vit/model", "vit/gradient"})},
      {"vit/train", true, with(kBeforeModel, {"vit/model", "vit/data", "vit/gradient"})},
      {"vit/serving", true, with(kBeforeModel, {"vit/model"})},
      {"vit", true, library},  // the umbrella header
  };
  for (auto& module : tools_modules()) table.push_back(std::move(module));
  table.push_back({"tests", false, {"vit", "patch", "weights", "tools"}});
  table.push_back({"bench", false, {"vit", "patch", "weights", "tools", "tests"}});
  return table;
}

const std::vector<Module>& modules() {
  static const std::vector<Module> table = all_modules();
  return table;
}

struct Outside {
  std::string prefix;
  std::vector<std::string> modules;  ///< tests and bench may include anything
};

const std::vector<Outside>& outside_headers() {
  static const std::vector<Outside> table{
      {"opencv2/", {"patch", "tools"}},
      {"jpeglib.h", {"patch"}},
      {"png.h", {"patch"}},
      {"gif_lib.h", {"patch"}},
      {"libheif/", {"patch"}},
      {"libavcodec/", {"patch/video"}},
      {"libavformat/", {"patch/video"}},
      {"libavutil/", {"patch/video"}},
      {"libswscale/", {"patch/video"}},
      {"dlfcn.h", {"patch", "weights/known"}},
      {"cblas.h", {"vit/kernels"}},
      {"nlohmann/", {"weights", "vit/text", "tools"}},
      {"zlib.h", {"weights", "vit/data", "vit/index", "vit/text", "tools"}},
      {"utf8proc.h", {"vit/text"}},
      {"boost/", {"tools/serve/http"}},
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

const Module* module_of(const std::string& path) {
  for (const auto& module : modules())
    if (path.starts_with(module.folder + "/")) return &module;
  return nullptr;
}

/// Whether one of the folders holds the path, or it is one of them.
bool covers(const std::vector<std::string>& names, const std::string& path) {
  return std::ranges::any_of(
      names, [&](const std::string& name) { return path == name || path.starts_with(name + "/"); });
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing of this repository" : text;
}

/// Empty, or the rule that `module` breaks by including "header".
std::string broken_by_own(const Module& module, const std::string& header) {
  if (module_of(header) == nullptr)
    return "includes \"" + header + "\", which is no path from the top level";
  if (covers({module.folder}, header) || covers(module.may_use, header)) return {};
  return "includes \"" + header + "\", but " + module.folder + " may use " + joined(module.may_use);
}

/// Empty, or the rule that `module` breaks by including <header> from outside.
std::string broken_by_outside(const Module& module, const std::string& header) {
  if (module.folder == "tests" || module.folder == "bench") return {};
  for (const auto& outside : outside_headers())
    if (header.starts_with(outside.prefix) && !covers(outside.modules, module.folder))
      return "includes <" + header + ">, which belongs to " +
             (outside.modules.empty() ? "the tests" : joined(outside.modules));
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

std::string broken_by_code(const Module& module, std::string_view code) {
  if (!module.library) return {};
  for (const auto* word : {"cout", "cerr", "clog", "printf", "fprintf", "puts", "fputs"})
    if (mentions(code, word)) return std::string("uses ") + word + ", but the library never prints";
  for (const auto* word : {"exit", "_exit", "quick_exit", "abort", "terminate"})
    if (mentions(code, std::string(word)) && code.find(std::string(word) + "(") != code.npos)
      return std::string("calls ") + word + ", but the library never ends the program";
  return {};
}

std::string broken_by_line(const Module& module, std::string_view line) {
  line = line.substr(0, line.find("//"));
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == line.npos) return {};
  if (!line.substr(hash).starts_with("#include")) return broken_by_code(module, line);
  const size_t open = line.find_first_of("\"<");
  if (open == line.npos) return {};
  const size_t close = line.find_first_of("\">", open + 1);
  const std::string header(line.substr(open + 1, close - open - 1));
  return line[open] == '"' ? broken_by_own(module, header) : broken_by_outside(module, header);
}

/// Each as "file:line: rule".
std::vector<std::string> violations_in(const std::string& path, const std::string& content) {
  std::vector<std::string> found;
  const Module* module = module_of(path);
  if (module == nullptr) return {path + ":1: lies in no module"};
  std::istringstream stream(content);
  std::string line;
  size_t number = 0;
  while (std::getline(stream, line)) {
    ++number;
    const std::string rule = broken_by_line(*module, line);
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
      if (extension == ".h" || extension == ".cc" || extension == ".c" || extension == ".inl")
        files.push_back(fs::relative(entry.path(), vit::test::source_dir()).string());
    }
  }
  return files;
}

std::string read(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Layering, EverySourceIncludesOnlyModulesItMayUse) {
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

TEST(LayeringRules, NameFileLineAndRuleOfAForbiddenInclude) {
  EXPECT_THAT(
      violations_in("vit/base/a.h", "#pragma once\n#include \"patch/image.h\"\n"),
      ElementsAre("vit/base/a.h:2: includes \"patch/image.h\", but vit/base may use nothing "
                  "of this repository"));
  EXPECT_THAT(
      violations_in("weights/formats/a.cc", "#include \"vit/kernels/gemm.h\"\n"),
      ElementsAre("weights/formats/a.cc:1: includes \"vit/kernels/gemm.h\", but weights may "
                  "use vit/base"));
  EXPECT_THAT(violations_in("vit/model/a.cc", "  #include \"tools/command.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("tools/a.cc", "#include \"tests/support/a.h\"\n"), testing::SizeIs(1));
}

TEST(LayeringRules, LetAModuleUseItselfAndTheModulesBeforeIt) {
  EXPECT_THAT(
      violations_in("patch/a.cc", "#include \"patch/a.h\"\n#include \"vit/base/matrix.h\"\n"),
      IsEmpty());
  EXPECT_THAT(violations_in("vit/vit.h", "#include \"vit/model/classifier.h\"\n"), IsEmpty());
  EXPECT_THAT(violations_in("tests/a.cc", "#include \"tools/command.h\"\n"), IsEmpty());
}

TEST(LayeringRules, KeepCommandsApart) {
  EXPECT_THAT(
      violations_in("tools/heads/a.cc", "#include \"tools/eval/report.h\"\n"),
      ElementsAre(
          "tools/heads/a.cc:1: includes \"tools/eval/report.h\", but tools/heads "
          "may use vit, patch, weights, tools/cli, tools/output, tools/draw, tools/sources"));
  EXPECT_THAT(violations_in("tools/eval/a.cc", "#include \"tools/inputs/a.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("tools/cli/a.cc", "#include \"tools/eval/eval.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("tools/output/a.cc", "#include \"tools/cli/options.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("tools/inputs/a.cc", "#include \"tools/rows/run/run.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("tools/train/a.cc",
                            "#include \"tools/eval/report.h\"\n#include \"tools/eval/eval.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("tools/serve/a.cc", "#include \"tools/attention/settings.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("tools/analysis/a.cc", "#include \"tools/explorer/page.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("tools/batch/a.cc", "#include \"tools/rows/a.h\"\n"), IsEmpty());
  EXPECT_THAT(violations_in("tools/commands.cc", "#include \"tools/eval/eval.h\"\n"), IsEmpty());
}

TEST(LayeringRules, KeepTheFinerModulesOfTheLibraryApart) {
  EXPECT_THAT(violations_in("patch/image/a.cc", "#include \"patch/recipe.h\"\n"),
              testing::SizeIs(1));
  EXPECT_THAT(violations_in("patch/a.cc", "#include \"patch/image/image.h\"\n"), IsEmpty());
  EXPECT_THAT(violations_in("weights/known/a.cc", "#include \"weights/checkpoint.h\"\n"),
              testing::SizeIs(1));
}

TEST(Layering, EveryFolderOfToolsHasItsOwnRow) {
  for (const auto& file : source_files())
    if (file.starts_with("tools/") && fs::path(file).parent_path() != "tools") {
      EXPECT_NE(module_of(file)->folder, "tools") << file;
    }
}

TEST(LayeringRules, RefuseIncludesRelativeToTheirOwnFolder) {
  EXPECT_THAT(
      violations_in("patch/a.cc", "#include \"image.h\"\n"),
      ElementsAre("patch/a.cc:1: includes \"image.h\", which is no path from the top level"));
}

TEST(LayeringRules, KeepOutsideLibrariesInTheirModules) {
  EXPECT_THAT(violations_in("vit/model/a.cc", "#include <opencv2/core.hpp>\n"),
              ElementsAre("vit/model/a.cc:1: includes <opencv2/core.hpp>, which belongs to patch, "
                          "tools"));
  EXPECT_THAT(violations_in("patch/a.cc", "#include <opencv2/core.hpp>\n"), IsEmpty());
  EXPECT_THAT(violations_in("vit/encoder/a.cc", "#include <cblas.h>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations_in("patch/a.cc", "#include <nlohmann/json.hpp>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations_in("weights/a.cc", "#include <curl/curl.h>\n"), testing::SizeIs(1));
  EXPECT_THAT(violations_in("weights/a.cc", "#include <zlib.h>\n#include <vector>\n"), IsEmpty());
}

TEST(LayeringRules, KeepTheLibraryFromPrintingAndExiting) {
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

TEST(LayeringRules, RefuseUnknownEntriesAtTheTopLevel) {
  EXPECT_THAT(strangers_among({"vit", "README.md", ".ci", "build-sanitize", "notes.txt"}),
              ElementsAre("notes.txt"));
}

}  // namespace
