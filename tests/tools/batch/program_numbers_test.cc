/// A row's number is its place in the output and never changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <regex>

#include "tests/tools/batch/batch_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// "1 000.bmp", "2 001.bmp" … of the rows, in their order; of a .npy those of its list.
std::vector<std::string> numbered(const std::string& output) {
  const std::string text = content_of(output.ends_with(".npy") ? output + ".jsonl" : output);
  const std::regex pattern(output.ends_with(".csv") ? R"(\n(\d+),[^,\n]*/([^,/\n]*),)"
                           : output.ends_with(".db")
                               ? R"(\d+\|(\d+)\|[^|\n]*/([^|/\n]*)\|(?:ok|failed))"
                               : R"lit("number":(\d+),"path":"[^"]*/([^"/]*)")lit");
  std::vector<std::string> rows;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    rows.push_back((*at)[1].str() + " " + (*at)[2].str());
  return rows;
}

/// The numbers of row `row`, from 0, of an array of `rows` rows.
std::string numbers_of(const std::string& npy, size_t row, size_t rows) {
  const std::string bytes = read_file(npy).substr(128);
  return bytes.substr(row * bytes.size() / rows, bytes.size() / rows);
}

TEST(Numbers, AreThePlacesOfTheRowsAlsoAfterPhotographsWereAdded) {
  for (const auto* name : {"r.csv", "r.jsonl", "r.db", "r.npy"}) {
    const Folder folder;
    write_images(folder, 7);  // 6 is broken
    ASSERT_EQ(run_into(folder, name).status, 0);
    fs::remove(folder.path("in/003.bmp"));
    folder.write("in/001a.bmp", image_bytes());
    folder.write("in/0000.bmp", image_bytes());
    const Finished grown = run_into(folder, name);
    ASSERT_EQ(grown.status, 0) << grown.err;
    const auto expected =
        ElementsAre("1 000.bmp", "2 001.bmp", "3 002.bmp", "4 003.bmp", "5 004.bmp", "6 005.bmp",
                    "7 006.bmp", "8 0000.bmp", "9 001a.bmp");
    EXPECT_THAT(numbered(folder.path(name)), expected) << name;
    folder.write("in/006.bmp", image_bytes());
    ASSERT_EQ(run_into(folder, name, {"--retry-failed"}).status, 0);
    EXPECT_THAT(numbered(folder.path(name)), expected) << name << " retried";
  }
}

TEST(Numbers, LeadToTheRowOfTheArray) {
  const Folder folder;
  write_images(folder, 5);
  ASSERT_EQ(run_into(folder, "r.npy").status, 0);
  const std::string added = folder.write("in/001a.bmp", image_bytes());
  ASSERT_EQ(run_into(folder, "r.npy").status, 0);
  ASSERT_EQ(
      run({"embed", "-m", golden("hf_vit"), "-q", added, "-o", folder.path("one.npy")}).status, 0);
  EXPECT_EQ(numbered(folder.path("r.npy")).back(), "6 001a.bmp");
  EXPECT_EQ(numbers_of(folder.path("r.npy"), 6 - 1, 6), numbers_of(folder.path("one.npy"), 0, 1));
}

TEST(Numbers, OfAFileByAnEarlierVersionThatRepeatAreCorrected) {
  const Folder folder;
  write_images(folder, 4);
  for (const auto* name : {"r.csv", "r.jsonl", "r.npy"}) {
    ASSERT_EQ(run_into(folder, name).status, 0);
    const std::string list = std::string(name) + (std::string(name) == "r.npy" ? ".jsonl" : "");
    const std::string whole = read_file(folder.path(list));
    std::string text = whole;
    const std::string four = list.ends_with("csv") ? "\n4," : "\"number\":4,",
                      two = list.ends_with("csv") ? "\n2," : "\"number\":2,";
    text.replace(text.find(four), four.size(), two);
    folder.write(list, text);
    fs::remove(folder.path(list + ".sums"));
    auto arguments = std::vector<std::string>{name == std::string("r.npy") ? "embed" : "batch",
                                              "-m",
                                              golden("hf_vit"),
                                              folder.path("in"),
                                              "-o",
                                              folder.path(name)};
    if (name != std::string("r.npy")) arguments.insert(arguments.end(), {"-k", "2"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.err,
                HasSubstr("vit: " + folder.path(name) +
                          ": row 4 has the number 2, which is not its place; all rows "
                          "are renumbered from 1 on\n"));
    EXPECT_EQ(read_file(folder.path(list)), whole);
    EXPECT_FALSE(fs::exists(folder.path(std::string(name) + ".new")));
  }
}

TEST(Numbers, OfAFileFromAListOnStandardInputAreCorrectedAndNoRowIsLost) {
  const Folder folder;
  write_images(folder, 3);
  const std::string output = folder.path("r.csv");
  ASSERT_EQ(run_into(folder, "r.csv").status, 0);
  const std::string whole = read_file(output);
  std::string text = whole;
  text.replace(text.find("\n3,"), 3, "\n1,");
  folder.write("r.csv", text);
  fs::remove(output + ".sums");
  Call call = batch_call({"-", "-o", output});
  for (const auto* name : {"000", "001", "002"})
    call.input += folder.path(std::string("in/") + name + ".bmp") + "\n";
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "vit: " + output +
                              ": its rows were renumbered, and the list of inputs cannot be "
                              "read twice; run the same command again\n");
  EXPECT_EQ(read_file(output), whole);
  EXPECT_EQ(run(call).status, 0);
  EXPECT_EQ(read_file(output), whole);
}

TEST(Numbers, OfShardsThatHaveGrownTwiceJoinToThoseOfOneRun) {
  for (const auto* format : {"csv", "jsonl", "db", "npy"}) {
    const Folder folder;
    const std::string one = "one." + std::string(format), parts = "parts." + std::string(format);
    write_images(folder, 20);
    const auto run_both = [&] {
      ASSERT_EQ(run_into(folder, one).status, 0);
      for (const auto* part : {"2/3", "0/3", "1/3"})
        ASSERT_EQ(run_into(folder, parts, {"--shard", part}).status, 0);
    };
    run_both();
    for (const auto* name : {"in/000a.bmp", "in/007a.bmp", "in/007b.bmp", "in/015a.bmp"})
      folder.write(name, image_bytes());
    fs::remove(folder.path("in/010.bmp"));
    run_both();
    run_both();  // nothing new
    for (const auto* name : {"in/00.bmp", "in/007aa.bmp", "in/012a.bmp"})
      folder.write(name, image_bytes());
    run_both();
    const Finished merged = run({"join", folder.path(parts)});
    ASSERT_EQ(merged.status, 0) << merged.err;
    EXPECT_EQ(content_of(folder.path(parts)), content_of(folder.path(one))) << format;
    const auto rows = numbered(folder.path(parts));
    ASSERT_EQ(rows.size(), 27u);
    EXPECT_EQ(rows[26], "27 012a.bmp");
    EXPECT_EQ(rows, numbered(folder.path(one)));
  }
}

}  // namespace
}  // namespace vit::tools
