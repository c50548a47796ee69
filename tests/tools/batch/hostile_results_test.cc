/// Malicious files of rows: users sort and export by rows that they got from others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/message_of.h"
#include "tests/support/peak_memory.h"
#include "tests/tools/subprocess.h"
#include "tools/rows/results.h"

namespace vit::tools {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using vit::test::message_of;
using vit::test::peak_megabytes;

const RowShape kShape{.top = 2};
constexpr ResultAccess kToRead{.read_only = true};

TEST(HostileResults, AreNotReadWithoutEndWhereARowHasNone) {
  const Folder folder;
  const std::string columns = "number,path,status,reason,class_1,label_1,probability_1,path_hex\n";
  for (const auto& [file, start] :
       {std::pair{"a.csv", ""s}, {"b.csv", columns}, {"a.jsonl", "{\"number\":1"s}}) {
    const std::string name = file;  // Clang 14 captures no structured bindings
    folder.write(name, start);
    std::filesystem::resize_file(folder.path(name), std::uintmax_t{1} << 30);  // sparse
    std::string problem;
    const auto read = [&] {
      problem = message_of([&] {
        Results results(folder.path(name), *result_kind(name), kShape, kToRead);
        results.read_header();
        while (results.next()) {
        }
      });
    };
    EXPECT_LT(peak_megabytes(read), 64u) << name;
    EXPECT_EQ(problem, folder.path(name) + ": row 1 is longer than 33292288 bytes: this is not a " +
                           "file of results by vit, or it is damaged");
  }
}

TEST(HostileResults, TakeNoMemoryForRowsThatNestWithoutEnd) {
  const Folder folder;
  const std::string path = folder.path("r.jsonl");
  const std::string row = R"({"number":1,"path":"a","status":"failed","reason":"gone"})"
                          "\n";
  folder.write("r.jsonl", R"({"number":0,"status":"header","header":{"vit":"1"}})"
                          "\n" +
                              row + R"({"number":2,"path":"a","status":"ok","x":)" +
                              std::string(8'000'000, '[') + "\n" + row);
  Results results(path, *result_kind("r.jsonl"), kShape, kToRead);
  ASSERT_TRUE(results.read_header());
  EXPECT_TRUE(results.next());
  std::string problem;
  const auto read = [&] { problem = message_of([&] { results.next(); }); };
  EXPECT_LT(peak_megabytes(read), 200u);
  EXPECT_THAT(problem, HasSubstr("row 2 is damaged, and others come after it"));
}

}  // namespace
}  // namespace vit::tools
