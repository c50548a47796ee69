/// Images within .zip and .tar.gz files, also broken and malicious ones. Those within .tar
/// files are in tests/tools/batch/archives_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/message_of.h"
#include "tests/support/peak_memory.h"
#include "tests/tools/batch/tar_builder.h"
#include "tests/tools/sources/zip_builder.h"
#include "tests/tools/subprocess.h"
#include "tools/sources/archive.h"
#include "vit/data/directory.h"

namespace vit::tools {
namespace {

using data::kNeverStop;
using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using vit::test::deflated;
using vit::test::message_of;
using vit::test::peak_megabytes;

constexpr int kGzip = 16 + MAX_WBITS;

std::string content_of(const Archive& archive, const Member& member, std::size_t from = 0) {
  const auto source = archive.source(member, "test", kNeverStop);
  std::string text(*source.size - std::min<std::size_t>(from, *source.size), '\0');
  text.resize(source.read(from, std::as_writable_bytes(std::span(text))));
  return text;
}

/// "name=content" of every member; "!! reason" of what cannot be read.
std::vector<std::string> members_of(const std::string& path) {
  std::vector<std::string> lines;
  const std::string problem = message_of([&] {
    const Archive archive(path);
    archive.visit(
        [&](const Member& member) {
          std::string text;
          const std::string why = message_of([&] { text = content_of(archive, member); });
          lines.push_back(member.name + (why == "no error" ? "=" + text : " !! " + why));
          return true;
        },
        kNeverStop);
  });
  if (problem != "no error") lines.push_back("!! " + problem.substr(path.size() + 2));
  return lines;
}

std::string varied(std::size_t size, unsigned seed = 1) {
  std::string text;
  for (std::uint32_t value = seed; text.size() < size; value = value * 1664525 + 1013904223)
    text += static_cast<char>(value >> 24);
  return text;
}

TEST(Zip, HasTheMembersOfItsDirectory) {
  const Folder folder;
  const std::vector<ZipPart> parts{{.name = "a/1.jpg", .content = "deflated"},
                                   {.name = "2.jpg", .content = "stored", .deflate = false},
                                   {.name = "a/", .content = "", .deflate = false},
                                   {.name = "link.jpg", .content = "1.jpg", .attributes = 0120777},
                                   {.name = "3.jpg", .content = "behind", .described = true},
                                   {.name = "4.jpg", .content = "wide", .zip64 = true},
                                   {.name = "5.jpg", .content = "", .deflate = false}};
  const auto expected =
      ElementsAre("a/1.jpg=deflated", "2.jpg=stored", "3.jpg=behind", "4.jpg=wide", "5.jpg=");
  for (const bool zip64 : {false, true})
    for (const auto& [before, comment] : {std::pair{"", ""}, {"#!/bin/sh\n", "PK and more"}}) {
      folder.write("a.zip", zip_file(parts, before, comment, zip64));
      EXPECT_THAT(members_of(folder.path("a.zip")), expected) << zip64 << before;
    }
  folder.write("a.zip", zip_file({}));
  EXPECT_THAT(members_of(folder.path("a.zip")), ElementsAre());
}

TEST(Zip, MembersThatCannotBeReadSayWhyAndTheOthersAreRead) {
  const Folder folder;
  folder.write("a.zip",
               zip_file({{.name = "1.jpg", .content = "secret", .flags = 1},
                         {.name = "2.jpg", .content = "x", .method = 9},
                         {.name = "3.jpg", .content = "long", .says = 5},
                         {.name = "4.jpg", .content = "sum", .wrong_sum = 1},
                         {.name = "5.jpg", .content = "stored", .deflate = false, .says = 7},
                         {.name = "6.jpg", .content = "good"}}));
  EXPECT_THAT(
      members_of(folder.path("a.zip")),
      ElementsAre("1.jpg !! test: is encrypted; unpack the archive with its password",
                  "2.jpg !! test: is packed by method 9, expected 0 (stored) or 8 (deflated); "
                  "unpack the archive",
                  "3.jpg !! test: does not unpack to its 5 bytes: the archive is damaged",
                  "4.jpg !! test: does not match its checksum: the archive is damaged",
                  "5.jpg !! test: has two sizes in the archive's directory", "6.jpg=good"));
}

TEST(Zip, ThatIsDamagedSaysWhere) {
  const Folder folder;
  const std::string whole = zip_file({{.name = "1.jpg", .content = "one"}});
  const std::string path = folder.path("a.zip");
  folder.write("a.zip", whole.substr(0, whole.size() - 30));
  EXPECT_THAT(members_of(path), ElementsAre("!! this zip archive is truncated: it has no "
                                            "directory at its end"));
  folder.write("a.zip", "no zip");
  EXPECT_THAT(members_of(path),
              ElementsAre("!! not a zip archive: it has no directory at its end"));
  folder.write("a.zip", "");
  EXPECT_THAT(members_of(path),
              ElementsAre("!! not a zip archive: it has no directory at its end"));
  std::string broken = whole;
  broken[broken.find("PK\x01\x02")] = 'X';
  folder.write("a.zip", broken);
  EXPECT_THAT(members_of(path), ElementsAre(HasSubstr("no directory entry at byte ")));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    folder.write("a.zip", whole.substr(0, length));
    EXPECT_EQ(members_of(path).size(), 1u) << length;
  }
}

TEST(Zip, MembersThatShareTheirBytesAreRefused) {
  const Folder folder;
  const std::string whole = zip_file({{.name = "1.jpg", .content = varied(300)}});
  const std::size_t start = whole.find("PK\x01\x02"), end = whole.find("PK\x05\x06");
  const std::string entry = whole.substr(start, end - start);
  std::string directory;
  for (int i = 0; i < 50; ++i) directory += entry;
  folder.write("a.zip", whole.substr(0, start) + directory + whole.substr(end, 12) +
                            zip_number(directory.size(), 4) + zip_number(start, 4) + "\0\0"s);
  const auto members = members_of(folder.path("a.zip"));
  EXPECT_LT(members.size(), 20u);
  EXPECT_EQ(members.front(), "1.jpg=" + varied(300));
  EXPECT_EQ(members.back(),
            "!! damaged zip archive: '1.jpg' and the members before it would take more bytes than "
            "the file has, so they overlap");
}

TEST(Zip, SurvivesDamageAnywhere) {
  const Folder folder;
  const std::string whole =
      zip_file({{.name = "1.jpg", .content = varied(300)},
                {.name = "2.jpg", .content = "stored", .deflate = false, .zip64 = true}},
               "", "", true);
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char value : {'\0', '\xff', '\x7f'}) {
      std::string damaged = whole;
      damaged[at] = value;
      folder.write("a.zip", damaged);
      EXPECT_LE(members_of(folder.path("a.zip")).size(), 3u) << at;
    }
}

TEST(Zip, ABombCostsNoMoreThanItsImageMayNeed) {
  const Folder folder;
  const std::string zeros(std::size_t{100} << 20, '\0');
  folder.write("a.zip", zip_file({{.name = "1.jpg", .content = zeros}}));
  folder.write("b.zip", zip_file({{.name = "1.jpg",
                                   .content = "\xff\xd8\xff" + zeros.substr(100),
                                   .says = 1'000'000'000'000}}));
  for (const auto* name : {"a.zip", "b.zip"}) {
    const Archive archive(folder.path(name));
    std::string problem;
    const auto load = [&](const Member& member) {
      problem = message_of([&] { patch::decode(archive.source(member, "test", kNeverStop), {}); });
      return true;
    };
    EXPECT_LT(peak_megabytes([&] { archive.visit(load, kNeverStop); }), 80u) << name;
    EXPECT_THAT(problem, testing::StartsWith("test: ")) << name;
  }
}

TEST(TarGz, HasTheMembersOfItsTar) {
  const Folder folder;
  const std::string tar = tar_member("1.jpg", "one") + tar_member("2.jpg", "two") + tar_end();
  for (const auto* name : {"a.tar.gz", "a.TGZ"}) {
    folder.write(name, deflated(tar, kGzip));
    EXPECT_THAT(members_of(folder.path(name)), ElementsAre("1.jpg=one", "2.jpg=two")) << name;
  }
  // Several streams, as some programs write.
  folder.write("a.tgz", deflated(tar.substr(0, 700), kGzip) + deflated(tar.substr(700), kGzip));
  EXPECT_THAT(members_of(folder.path("a.tgz")), ElementsAre("1.jpg=one", "2.jpg=two"));
  folder.write("a.tgz", deflated(tar, kGzip) + std::string(600, '\0'));
  EXPECT_THAT(members_of(folder.path("a.tgz")), ElementsAre("1.jpg=one", "2.jpg=two"));
}

TEST(TarGz, IsReadFromAnyPlaceOnByManyThreads) {
  const Folder folder;
  std::string tar;
  std::vector<std::string> contents;
  for (unsigned i = 0; i < 60; ++i) {
    contents.push_back(varied(500'000, i + 1));
    tar += tar_member(std::to_string(i) + ".jpg", contents.back());
  }
  const std::size_t half = tar.size() / 2;
  folder.write("a.tgz", deflated(tar.substr(0, half), kGzip) + deflated(tar.substr(half), kGzip));
  const Archive archive(folder.path("a.tgz"));
  std::vector<Member> members;
  archive.visit(
      [&](const Member& member) {
        members.push_back(member);
        return true;
      },
      kNeverStop);
  ASSERT_EQ(members.size(), contents.size());
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::size_t chosen = (i * 37 + t * 11) % members.size();
        EXPECT_EQ(content_of(archive, members[chosen]), contents[chosen]) << chosen;
        EXPECT_EQ(content_of(archive, members[chosen], 499'000), contents[chosen].substr(499'000));
      }
    });
}

TEST(TarGz, ThatIsDamagedSaysWhereAndKeepsTheMembersBefore) {
  const Folder folder;
  const std::string path = folder.path("a.tgz");
  const std::string tar = tar_member("1.jpg", "one") + tar_member("2.jpg", varied(100'000));
  const std::string whole = deflated(tar + tar_end(), kGzip);
  folder.write("a.tgz", whole.substr(0, 50'000));
  EXPECT_THAT(
      members_of(path),
      ElementsAre("1.jpg=one", HasSubstr("this gzip file is truncated: it ends after 50000"),
                  HasSubstr("this gzip file is truncated: it ends after 50000 bytes")));
  folder.write("a.tgz", "no gzip file at all");
  EXPECT_THAT(members_of(path), ElementsAre("!! not a gzip file"));
  folder.write("a.tgz", "");
  EXPECT_THAT(members_of(path), ElementsAre(HasSubstr("truncated")));
  std::string wrong = whole;
  wrong[wrong.size() - 6] ^= 1;  // the sum
  folder.write("a.tgz", wrong);
  EXPECT_THAT(members_of(path).back().substr(0, 60), HasSubstr("damaged gzip file"));
  folder.write("a.tgz", deflated(tar.substr(0, 50'000), kGzip));
  EXPECT_THAT(members_of(path).back().substr(0, 60), HasSubstr("this tar archive is truncated"));
}

TEST(TarGz, ABombIsRefusedAndAStopEndsTheWalk) {
  const Folder folder;
  const std::string large(std::size_t{150} << 20, '\0');
  folder.write("a.tgz", deflated(tar_member("1.txt", large) + tar_member("2.jpg", "x"), kGzip));
  std::vector<std::string> members;
  EXPECT_LT(peak_megabytes([&] {
              const Archive archive(folder.path("a.tgz"));
              members.push_back(message_of(
                  [&] { archive.visit([](const Member&) { return true; }, kNeverStop); }));
            }),
            20u);
  EXPECT_THAT(members, ElementsAre(HasSubstr(
                           ": decompresses to more than 200 times its size, which images do not; "
                           "unpack it first if you trust it")));
  const std::atomic<bool> stopped{true};
  EXPECT_FALSE(Archive(folder.path("a.tgz")).visit([](const Member&) { return true; }, stopped));
}

TEST(MemberNames, AreSplitAfterTheArchive) {
  const Folder folder;
  folder.write("a.zip", "");
  folder.write("b!/c.tar", "");
  const auto split = [&](const std::string& path) {
    const auto name = split_member_name(folder.path(path));
    return name ? name->archive.substr(folder.path().size() + 1) + " " + name->name : "none";
  };
  EXPECT_EQ(split("a.zip!/x.jpg"), "a.zip x.jpg");
  EXPECT_EQ(split("a.zip!/d!/x.jpg"), "a.zip d!/x.jpg");
  EXPECT_EQ(split("b!/c.tar!/x.jpg"), "b!/c.tar x.jpg");
  EXPECT_EQ(split("b!/c.tar"), "none");
  EXPECT_EQ(split("gone.zip!/x.jpg"), "none");
}

}  // namespace
}  // namespace vit::tools
