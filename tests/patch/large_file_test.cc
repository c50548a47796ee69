// Files of gigabytes: no more is read than their image can need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "patch/image/image_bytes.h"
#include "patch/image/pixel_budget.h"
#include "tests/patch/hostile_files.h"
#include "tests/patch/images.h"
#include "tests/support/folder.h"
#include "tests/support/peak_memory.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

using test::Bytes;
using testing::HasSubstr;
using vit::test::peak_megabytes;

constexpr size_t kHuge = 2'000'000'000;

/// A file that starts with `bytes`, followed by a hole.
std::string sparse_file(const vit::test::Folder& folder, const std::string& name,
                        const Bytes& bytes) {
  const std::string path = folder.path(name);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  std::filesystem::resize_file(path, kHuge);
  return path;
}

std::string message_of(const std::string& path, const DecodeOptions& options = {}) {
  try {
    read_image(path, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// A TIFF whose directory stands at `at`, and its pixels at the start.
std::string tiff_with_late_directory(const vit::test::Folder& folder, std::uint32_t at) {
  const Bytes tiff = test::tiff_file(Bytes(36, 7), 4, 3, 3);
  size_t from = 0;
  for (size_t i = 4; i-- > 0;) from = from << 8 | tiff[4 + i];
  Bytes start = tiff;
  const Bytes offset = test::little(at, 4);
  std::copy(offset.begin(), offset.end(), start.begin() + 4);
  const std::string path = sparse_file(folder, "late.tif", start);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(at);
  file.write(reinterpret_cast<const char*>(tiff.data() + from),
             static_cast<std::streamsize>(tiff.size() - from));
  return path;
}

TEST(LargeFile, OneThatOnlyStartsLikeAnImageIsNotReadWhole) {
  const vit::test::Folder folder;
  const Bytes jpeg = test::jpeg_of_scans(64, 64, 2), png = test::png_file(2, {{1, 2}}, {8, 0});
  const std::vector<std::string> paths{
      sparse_file(folder, "a.jpg", Bytes(jpeg.begin(), jpeg.end() - 2)),
      sparse_file(folder, "a.png", Bytes(png.begin(), png.begin() + 33)),
      sparse_file(folder, "a.webp", test::webp_without_data(64, 64)),
  };
  for (const std::string& path : paths)
    EXPECT_LT(peak_megabytes([&] { EXPECT_THAT(message_of(path), HasSubstr(path + ": ")); }), 80u)
        << path;
  EXPECT_EQ(message_of(paths[0]),
            paths[0] +
                ": the file is too large: 2000000000 bytes, but the first 33579008 do not hold "
                "a whole JPEG of 64x64 pixels");
}

TEST(LargeFile, WhatFollowsTheImageIsNotRead) {
  const vit::test::Folder folder;
  const std::string png = sparse_file(folder, "a.png", test::png_file(2, {{1, 2}}, {8, 0}));
  EXPECT_LT(peak_megabytes([&] { EXPECT_EQ(read_image(png).width, 2u); }), 80u);
  const std::string tiff = sparse_file(folder, "a.tif", test::tiff_file(Bytes(36, 7), 4, 3, 3));
  EXPECT_LT(peak_megabytes([&] { EXPECT_EQ(read_image(tiff).width, 4u); }), 80u);
}

TEST(LargeFile, ATiffSaysInItsDirectoryHowMuchItNeeds) {
  const vit::test::Folder folder;
  const std::string near = tiff_with_late_directory(folder, 33'000'000);
  EXPECT_LT(peak_megabytes([&] { EXPECT_EQ(read_image(near).width, 4u); }), 80u);
  const std::string far = tiff_with_late_directory(folder, 1'900'000'000);
  EXPECT_LT(peak_megabytes([&] {
              EXPECT_THAT(message_of(far), HasSubstr("do not hold a whole TIFF of 4x3 pixels"));
            }),
            80u);
}

TEST(LargeFile, TheLimitOnPixelsComesBeforeTheRest) {
  const vit::test::Folder folder;
  const std::string bmp =
      sparse_file(folder, "a.bmp", test::bmp_file(20000, 20000, {}, {}, Bytes(100, 1)));
  DecodeOptions options;
  options.max_pixels = 1'000'000;
  EXPECT_LT(peak_megabytes([&] {
              EXPECT_THAT(message_of(bmp, options), HasSubstr("20000x20000 are 400000000 pixels"));
            }),
            80u);
}

TEST(LargeFile, ItsShareOfTheBudgetIsTakenBeforeTheRestIsRead) {
  const vit::test::Folder folder;
  const std::string bmp =
      sparse_file(folder, "a.bmp", test::bmp_file(20000, 20000, {}, {}, Bytes(100, 1)));
  PixelBudget budget(kUsualMaxPixels);
  const auto others = budget.take(kUsualMaxPixels);
  const std::atomic<bool> stop = true;  // ends the wait immediately
  DecodeOptions options;
  options.budget = &budget;
  options.stop = &stop;
  EXPECT_LT(peak_megabytes([&] { EXPECT_THROW(read_image(bmp, options), WaitStopped); }), 80u);
}

}  // namespace
}  // namespace vit::patch
