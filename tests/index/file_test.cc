#include "vit/index/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>

#include "tests/index/support.h"
#include "tests/support/folder.h"
#include "vit/base/error.h"
#include "weights/numbers.h"

namespace vit::index {
namespace {

using test::append_rows;
using test::unit_rows;
using testing::HasSubstr;
using vit::test::Folder;

constexpr size_t kWidth = 20;

Format format(NumberType type = NumberType::kF32) {
  return {type, kWidth, R"({"model":"small"})"};
}

std::string bytes_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Three rows, then two more, of which the first replaces row 1; the last has failed.
std::string write_small(const Folder& folder, NumberType type = NumberType::kF32) {
  const std::string path = folder.path("a.index");
  create_index(path, format(type));
  IndexWriter writer(path, read_index(path));
  const Matrix rows = unit_rows(4, kWidth, 1);
  append_rows(writer, rows.view().row_range(0, 3), "a");
  writer.flush();
  writer.append({.path = "a1", .note = "damaged: grey", .content = {std::byte{7}}},
                rows.view().row_span(3));
  writer.append({.path = "bad", .note = "is empty", .status = Status::kFailed}, {});
  writer.replace(1);
  writer.finish();
  EXPECT_EQ(writer.rows(), 5u);
  return path;
}

/// What is wrong with these bytes, or nothing.
std::string error_of(const std::string& content) {
  std::vector<std::array<std::byte, 64>> aligned(content.size() / 64 + 1);
  std::memcpy(aligned.data(), content.data(), content.size());
  try {
    const auto bytes = std::as_bytes(std::span(aligned)).first(content.size());
    check_numbers(parse_index(bytes, "x.index"), "x.index");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(IndexFile, GivesBackWhatWasWritten) {
  const Folder folder;
  const std::string path = write_small(folder);
  const Index index = read_index(path);
  check_numbers(index, path);
  EXPECT_EQ(index.format, format());
  ASSERT_EQ(index.entries.size(), 5u);
  EXPECT_EQ(index.entries[0].path, "a0");
  EXPECT_EQ(index.entries[2].bytes, 102u);
  EXPECT_EQ(index.entries[2].time, -5);
  EXPECT_EQ(index.entries[2].width, 640u);
  EXPECT_EQ(index.entries[1].status, Status::kReplaced);
  EXPECT_EQ(index.entries[3].note, "damaged: grey");
  EXPECT_EQ(index.entries[3].content[0], std::byte{7});
  EXPECT_EQ(index.entries[4].status, Status::kFailed);
  EXPECT_EQ(live_rows(index.vectors), (std::vector<size_t>{0, 2, 3}));
  const Matrix expected = unit_rows(4, kWidth, 1);
  Matrix rows(4, kWidth);
  const std::vector<size_t> all{0, 1, 2, 3};
  read_rows(index.vectors, all, rows);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows.data()[i], expected.data()[i]);
}

TEST(IndexFile, StoresNumbersIn16BitsWhereAsked) {
  const Folder folder;
  const std::string path = write_small(folder, NumberType::kF16);
  const Index index = read_index(path);
  EXPECT_EQ(index.format.type, NumberType::kF16);
  Matrix row(1, kWidth);
  const std::vector<size_t> wanted{3};
  read_rows(index.vectors, wanted, row);
  const Matrix expected = unit_rows(4, kWidth, 1);
  for (size_t i = 0; i < kWidth; ++i)
    EXPECT_EQ(row(0, i), weights::float_of_f16(weights::f16_of_float(expected(3, i))));
}

TEST(IndexFile, CompactsToTheLiveRows) {
  const Folder folder;
  const std::string path = write_small(folder);
  compact(path, read_index(path));
  const Index index = read_index(path);
  check_numbers(index, path);
  ASSERT_EQ(index.entries.size(), 4u);
  EXPECT_EQ(index.vectors.blocks.size(), 1u);
  EXPECT_EQ(index.entries[1].path, "a2");
  EXPECT_EQ(index.entries[3].path, "bad");
  EXPECT_EQ(index.entries[3].status, Status::kFailed);
  const Matrix expected = unit_rows(4, kWidth, 1);
  Matrix rows(3, kWidth);
  read_rows(index.vectors, live_rows(index.vectors), rows);
  for (size_t i = 0; i < kWidth; ++i) {
    EXPECT_EQ(rows(0, i), expected(0, i));
    EXPECT_EQ(rows(1, i), expected(2, i));
    EXPECT_EQ(rows(2, i), expected(3, i));
  }
}

TEST(IndexFile, IsWorthCompactingWhenMuchIsReplacedOrInSmallBlocks) {
  const Folder folder;
  const std::string path = folder.path("a.index");
  create_index(path, format());
  const Matrix rows = unit_rows(1, kWidth, 1);
  IndexWriter writer(path, read_index(path));
  for (size_t block = 0; block < 8; ++block) {
    append_rows(writer, rows, "a");
    writer.flush();
  }
  EXPECT_FALSE(worth_compacting(read_index(path)));
  append_rows(writer, rows, "a");
  writer.flush();
  EXPECT_TRUE(worth_compacting(read_index(path)));
  compact(path, read_index(path));
  EXPECT_FALSE(worth_compacting(read_index(path)));
  IndexWriter more(path, read_index(path));
  for (const size_t row : {0, 3, 5}) more.replace(row);
  more.finish();
  EXPECT_TRUE(worth_compacting(read_index(path)));
}

/// What a kill leaves of a block: its bytes so far, and no header, which is written last.
TEST(IndexFile, IsWholeUpToItsLastBlockWhereverTheWriterWasKilled) {
  const Folder folder;
  const std::string path = folder.path("a.index");
  create_index(path, format());
  const std::string empty = bytes_of(path);
  {
    IndexWriter writer(path, read_index(path));
    append_rows(writer, unit_rows(3, kWidth, 1), "a");
    writer.finish();
  }
  const std::string whole = bytes_of(path);
  for (size_t size = empty.size(); size < whole.size(); ++size) {
    std::string torn = whole.substr(0, size);
    for (size_t i = empty.size(); i < std::min(size, empty.size() + 64); ++i) torn[i] = '\0';
    ASSERT_EQ(error_of(torn), "") << size;
    if (size % 97 != 0) continue;
    const std::string cut = folder.write("cut.index", torn);
    const Index index = read_index(cut);
    EXPECT_TRUE(index.entries.empty()) << size;
    IndexWriter writer(cut, index);
    append_rows(writer, unit_rows(3, kWidth, 1), "a");
    writer.finish();
    EXPECT_EQ(bytes_of(cut), whole) << size;
  }
}

TEST(IndexFile, ShowsEveryChangedByte) {
  const Folder folder;
  const std::string whole = bytes_of(write_small(folder));
  size_t unseen = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    if (error_of(changed).empty()) ++unseen;
  }
  // Only what fills the parts up to multiples of 64 bytes is in no checksum.
  EXPECT_LT(unseen, 6 * 64u);
}

TEST(IndexFile, SaysWhatIsWrong) {
  const Folder folder;
  const std::string whole = bytes_of(write_small(folder));
  const auto changed = [&](size_t at, char byte) {
    std::string bytes = whole;
    bytes[at] = byte;
    return error_of(bytes);
  };
  EXPECT_THAT(error_of(""), HasSubstr("is not an index by vit"));
  EXPECT_THAT(error_of(std::string(500, 'a')), HasSubstr("x.index: is not an index by vit"));
  EXPECT_THAT(changed(8, 9), HasSubstr("is an index of version 9, expected version 1"));
  EXPECT_THAT(changed(16, 21), HasSubstr("its header does not match its checksum"));
  EXPECT_THAT(changed(64, 'x'), HasSubstr("its description does not match its checksum"));
  EXPECT_THAT(changed(128 + 8, 4), HasSubstr("the block at byte 128 does not match its checksum"));
  EXPECT_THAT(changed(128 + 64, 1), HasSubstr("the numbers of rows 0 to 2 are not those"));
  EXPECT_THROW(read_index(folder.path("none")), Error);
}

}  // namespace
}  // namespace vit::index
