/// Images within .tar files: all formats of archives, broken ones and malicious ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/peak_memory.h"
#include "tests/tools/batch/tar_builder.h"
#include "tests/tools/sources/zip_builder.h"
#include "tests/tools/subprocess.h"
#include "tools/inputs/bytes.h"
#include "tools/rows/sorting/place_file.h"
#include "tools/sources/tar.h"
#include "vit/base/error.h"
#include "vit/data/directory.h"

namespace vit::tools {
namespace {

using testing::ElementsAre;
using vit::test::peak_megabytes;

std::vector<Input> inputs_of(const std::string& operand) {
  std::vector<Input> inputs;
  const TakeInput take = [&](Input input) {
    inputs.push_back(std::move(input));
    return inputs.size() < 1000;  // so that a listing that never ends does not hang
  };
  list_inputs({{operand}, '\n'}, data::kNeverStop, take);
  return inputs;
}

std::string content_of(const Input& input) {
  const auto source = source_of(input);
  std::string content(*source.size, '\0');
  content.resize(source.read(0, std::as_writable_bytes(std::span(content))));
  return content;
}

/// Relative to the folder; a problem behind "!!".
std::vector<std::string> listed(const Folder& folder, const std::string& operand) {
  std::vector<std::string> lines;
  for (const auto& input : inputs_of(operand)) {
    std::string path = input.path;
    if (path.starts_with(folder.path() + "/")) path.erase(0, folder.path().size() + 1);
    lines.push_back(path + (input.problem.empty() ? "" : " !! " + input.problem));
  }
  return lines;
}

TEST(Inputs, AreTheImagesWithinArchives) {
  const Folder folder;
  const std::string longer(150, 'n');
  std::string archive = tar_member("0001.jpg", "first") + tar_member("0001.json", "{}") +
                        tar_member("folder/", "", '5') + tar_member("._0002.jpg", "mac") +
                        tar_member("0002.png", std::string(1000, 'x'), '0', "deep/er") +
                        tar_member("link.jpg", "", '2');
  archive += tar_member("././@LongLink", longer + ".jpg" + std::string(1, '\0'), 'L') +
             tar_member("cut", "gnu");
  archive += tar_member("pax", "19 path=pax/é.jpg\n", 'x') + tar_member("cut", "posix") + tar_end();
  folder.write("in/shard.tar", archive);
  EXPECT_THAT(listed(folder, folder.path("in")),
              ElementsAre("in/shard.tar!/0001.jpg", "in/shard.tar!/deep/er/0002.png",
                          "in/shard.tar!/" + longer + ".jpg", "in/shard.tar!/pax/é.jpg"));
  std::vector<std::string> contents;
  InputFinder finder;
  for (const auto& input : inputs_of(folder.path("in/shard.tar"))) {
    contents.push_back(content_of(input));
    EXPECT_EQ(content_of(input_of_row(input.number, input.path, data::kNeverStop, finder)),
              contents.back());
  }
  EXPECT_THAT(contents, ElementsAre("first", std::string(1000, 'x'), "gnu", "posix"));
}

TEST(Inputs, KeepTheWholeMembersOfABrokenArchive) {
  const Folder folder;
  const std::string one = tar_member("1.jpg", std::string(600, 'x')), all = one + one;
  const std::string path = folder.path("a.tar");
  folder.write("a.tar", all.substr(0, all.size() - 600));
  EXPECT_THAT(listed(folder, path),
              ElementsAre("a.tar!/1.jpg",
                          "a.tar !! this tar archive is truncated: no whole member at byte 1536"));
  folder.write("a.tar", one + std::string(512, 'z'));
  EXPECT_THAT(
      listed(folder, path),
      ElementsAre("a.tar!/1.jpg", "a.tar !! damaged tar archive: no member header at byte 1536"));
  folder.write("a.tar", std::string(600, 'z'));
  EXPECT_THAT(listed(folder, path),
              ElementsAre("a.tar !! not a tar archive: no member header at byte 0"));
  folder.write("a.tar", "");
  EXPECT_THAT(listed(folder, path),
              ElementsAre("a.tar !! this tar archive is truncated: no whole member at byte 0"));
}

TEST(Inputs, SurviveEveryCutOfAnArchive) {
  const Folder folder;
  const std::string whole = tar_member("pax", "19 path=pax/é.jpg\n", 'x') +
                            tar_member("a.jpg", "1234") + tar_member("b.jpg", "5678") + tar_end();
  for (size_t length = 0; length < whole.size(); length += 37) {
    folder.write("a.tar", whole.substr(0, length));
    EXPECT_LE(listed(folder, folder.path("a.tar")).size(), 3u) << length;
  }
}

TEST(Inputs, OfRowsSayWhatIsGone) {
  const Folder folder;
  folder.write("a.tar", tar_member("1.jpg", "x") + tar_end());
  InputFinder finder;
  EXPECT_EQ(input_of_row(1, folder.path("a.tar!/2.jpg"), data::kNeverStop, finder).problem,
            "no such member in this archive");
  EXPECT_EQ(input_of_row(1, folder.path("b.tar!/2.jpg"), data::kNeverStop, finder).problem,
            "no such file");
  EXPECT_EQ(input_of_row(1, folder.path("x.jpg"), data::kNeverStop, finder).problem, "");
}

TEST(Archives, WhoseMembersSayTheyAreEndlessEndAtOnce) {
  const Folder folder;
  const std::string path = folder.path("a.tar"), good = tar_member("1.jpg", "x");
  const std::string cut =
      "a.tar !! this tar archive is truncated: no whole member at byte " + std::to_string(1024);
  // At 2^64 - 512 the position after the member is its own, at 2^64 - 1024 the one before.
  for (const std::uint64_t blocks : {1u, 2u, 3u}) {
    const std::uint64_t size = 0 - 512 * blocks;
    for (const char type : {'0', '7', '3', 'S'}) {
      folder.write("a.tar", good + lying_member("2.jpg", size, type) + tar_end());
      EXPECT_THAT(listed(folder, path), ElementsAre("a.tar!/1.jpg", cut)) << type << blocks;
    }
    for (const char type : {'L', 'K', 'x', 'g'}) {
      folder.write("a.tar", good + lying_member("2.jpg", size, type) + tar_end());
      EXPECT_THAT(listed(folder, path),
                  ElementsAre("a.tar!/1.jpg", "a.tar !! damaged tar archive: a header of " +
                                                  std::to_string(size) + " bytes at byte 1024"));
    }
    folder.write("a.tar", good + tar_member("pax", pax_record("size", std::to_string(size)), 'x') +
                              tar_member("2.jpg", "x") + tar_end());
    EXPECT_THAT(
        listed(folder, path),
        ElementsAre("a.tar!/1.jpg",
                    "a.tar !! this tar archive is truncated: no whole member at byte 2048"));
  }
  // A directory has no content, whatever its size says.
  folder.write("a.tar", lying_member("d", 0 - std::uint64_t{512}, '5') + good + tar_end());
  EXPECT_THAT(listed(folder, path), ElementsAre("a.tar!/1.jpg"));
}

TEST(Archives, WithNumbersThatAreNoneAreDamaged) {
  const Folder folder;
  const std::string path = folder.path("a.tar");
  const std::string no_size = "a.tar !! damaged tar archive: no size in the header at byte 0";
  for (const auto& size : {base_256(0 - std::uint64_t{512}, 0xff), base_256(1, 0x81),
                           std::string("00000000009"), std::string("-0000000512")}) {
    folder.write("a.tar", tar_header("1.jpg", size, '0', "") + tar_end());
    EXPECT_THAT(listed(folder, path), ElementsAre(no_size));
  }
  folder.write("a.tar", tar_header("1.jpg", base_256(3), '0', "") + "abc" + std::string(509, '\0'));
  EXPECT_THAT(listed(folder, path), ElementsAre("a.tar!/1.jpg")) << "as GNU tar writes sizes";
}

TEST(Archives, WithPaxRecordsThatCannotBeReadAreDamaged) {
  const Folder folder;
  const std::string path = folder.path("a.tar");
  for (const auto& records :
       {std::string("size=3\n"), std::string("999 path=x\n"), std::string("0 path=x\n"),
        std::string("1 path=x\n"), std::string("9 pathxx\n"), std::string("10 path=xy"),
        pax_record("size", "-512"), pax_record("size", "3x"), pax_record("size", ""),
        pax_record("size", "99999999999999999999999"), std::string(30, '7') + " path=x\n",
        pax_record("path", "y") + std::string(3, '\0')}) {
    folder.write("a.tar", tar_member("pax", records, 'x') + tar_member("1.jpg", "abc") + tar_end());
    EXPECT_THAT(listed(folder, path),
                ElementsAre("a.tar !! damaged tar archive: a pax header that cannot be read at "
                            "byte 0"))
        << records;
  }
  folder.write("a.tar",
               tar_member("pax", pax_record("size", "3") + pax_record("path", "p.jpg"), 'x') +
                   tar_header("1.jpg", 0) + "abc" + std::string(509, '\0') + tar_end());
  EXPECT_THAT(listed(folder, path), ElementsAre("a.tar!/p.jpg"));
  EXPECT_EQ(inputs_of(path).front().member.size, 3u);
}

TEST(Archives, AreNotLookedIntoOnceStopped) {
  const Folder folder;
  folder.write("a.tar", tar_member("1.txt", "x") + tar_end());
  const ReadableFile file(folder.path("a.tar"));
  const std::atomic<bool> stopped{true};
  size_t visited = 0;
  EXPECT_FALSE(visit_tar(
      file, [&](const TarMember&) { return ++visited > 0; }, stopped));
  EXPECT_EQ(visited, 0u);
}

TEST(Inputs, OfManyBytesAreNeverInMemoryAsAWhole) {
  const Folder folder;
  const std::string large = "\xff\xd8\xff" + std::string(std::size_t{100} << 20, '\0');
  folder.write("a.zip", zip_file({{.name = "1.jpg", .content = large}}));
  const Input input = inputs_of(folder.path("a.zip")).front();
  // A JPEG without pixels needs no more than the bytes that are read from every file.
  EXPECT_LT(peak_megabytes([&] { EXPECT_THROW(read_bytes(input, data::kNeverStop), Error); }), 90u);
  std::filesystem::create_directory(folder.path("failed"));
  EXPECT_LT(peak_megabytes([&] { copy_into(input, folder.path("failed")); }), 20u);
  EXPECT_TRUE(read_file(folder.path("failed/1.jpg")) == large);
  EXPECT_LT(peak_megabytes([&] { copy_into(input, folder.path("failed")); }), 20u) << "again";
}

}  // namespace
}  // namespace vit::tools
