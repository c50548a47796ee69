// Files that decoders cannot read, or that claim more than they contain: each is refused with a
// reason and at little cost, and none becomes a black picture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "patch/image/image.h"
#include "patch/image/pixel_budget.h"
#include "tests/patch/decoded.h"
#include "tests/patch/hostile_files.h"
#include "tests/patch/images.h"
#include "tests/support/message_of.h"
#include "tests/support/paths.h"
#include "tests/support/peak_memory.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

using test::BmpKind;
using test::Bytes;
using test::decoded;
using test::message;
using vit::test::message_of;
using vit::test::peak_megabytes;

TEST(Hostile, BmpsOfUnknownKindsAreRefusedByName) {
  const Bytes rows(40 * 30 * 3, 99);
  const auto refused = [&](BmpKind kind) {
    return message(test::bmp_file(40, 30, kind, {}, rows));
  };
  EXPECT_EQ(refused({24, 0, 40}), "no error");
  for (const auto& [compression, name] : {std::pair{1u, "RLE8"},
                                          {2u, "RLE4"},
                                          {3u, "bit masks"},
                                          {4u, "JPEG"},
                                          {5u, "PNG"},
                                          {6u, "bit masks with alpha"},
                                          {11u, "CMYK"},
                                          {99u, "number 99"}})
    EXPECT_EQ(refused({24, compression, 40}), "test: cannot read this BMP: its compression (" +
                                                  std::string(name) +
                                                  ") with 24 bits per pixel is not read");
  for (const unsigned bits : {0u, 2u, 3u, 64u})
    EXPECT_EQ(refused({bits, 0, 40}), "test: cannot read this BMP: it has " + std::to_string(bits) +
                                          " bits per pixel; 1, 4, 8, 16, 24 and 32 are read");
  Bytes inside = test::bmp_file(40, 30, {24, 0, 40}, {}, rows);
  inside[10] = 20;
  EXPECT_EQ(message(inside),
            "test: cannot read this BMP: its pixels start at byte 20, in its header");
  EXPECT_EQ(message(test::bmp_file(1, 1, {8, 0, 40}, {1, 2, 3, 0}, {7, 0, 0, 0})),
            "test: cannot decode this BMP: some pixels have colours beyond its palette");
  EXPECT_EQ(message(test::bmp_file(2, 1, {8, 1, 40}, {1, 2, 3, 0}, {3, 0, 0, 1})),
            "test: cannot decode this BMP: a run of pixels leaves the image");
}

TEST(Hostile, TiffsThatLibtiffDoesNotReadAreRefusedByReason) {
  const Bytes pixels(40 * 30 * 3, 99);
  const auto changed = [&](std::uint32_t tag, std::uint32_t value) {
    return message(test::with_tiff_value(test::tiff_file(pixels, 40, 30, 3), tag, value));
  };
  EXPECT_EQ(changed(259, 1), "no error");
  EXPECT_EQ(changed(259, 34712),
            "test: cannot decode this TIFF: its compression (JPEG 2000) is not read");
  EXPECT_EQ(changed(259, 99),
            "test: cannot decode this TIFF: its compression (number 99) is not read");
  for (const std::uint32_t compression : {2u, 3u, 5u, 6u, 7u, 8u, 32773u, 32809u, 50000u, 50001u})
    EXPECT_THAT(changed(259, compression), testing::StartsWith("test: cannot decode this TIFF: "))
        << compression;
  EXPECT_EQ(message(test::tiff_file(pixels, 40, 30, 5)),
            "test: cannot decode this TIFF: TIFFFillStrip: Read error on strip 0; got 3724 bytes, "
            "expected 6000");
  EXPECT_EQ(changed(258, 12),
            "test: cannot decode this TIFF: it has 12 bits per sample; 1, 2, 4, 8 and 16 are read");
  EXPECT_EQ(
      changed(258, 4),
      "test: cannot decode this TIFF: libtiff does not read 3 samples of 4 bits of this kind: "
      "Sorry, can not handle image");
  EXPECT_EQ(
      changed(262, 99),
      "test: cannot decode this TIFF: libtiff does not read 3 samples of 8 bits of this kind: "
      "Sorry, can not handle image with PhotometricInterpretation=99");
}

TEST(Hostile, IndicesBeyondThePaletteOfAPngAreRefused) {
  const Bytes palette{255, 255, 255, 1, 2, 3};
  const auto refused = [&](std::uint8_t bits, const Bytes& row) {
    return message(test::png_file(4, {row, row}, {bits, 3}, palette));
  };
  const std::string beyond =
      "test: cannot decode this PNG: some pixels have colours beyond its palette";
  EXPECT_EQ(refused(8, {0, 1, 1, 0}), "no error");
  EXPECT_EQ(refused(8, {0, 1, 2, 0}), beyond);
  EXPECT_EQ(refused(8, {200, 200, 200, 200}), beyond);
  EXPECT_EQ(refused(2, {0b00010001}), "no error");
  EXPECT_EQ(refused(2, {0b00010010}), beyond);
}

TEST(Hostile, SizesThatTheDataCannotHoldAreRefusedBeforeDecoding) {
  const std::string end = ", but its data is too short for that";
  EXPECT_EQ(message(test::png_without_data(20000, 20000)),
            "test: damaged PNG: its header gives a size of 20000x20000" + end);
  EXPECT_EQ(message(test::with_jpeg_size(test::flat_jpeg({9, 9, 9}), 20000, 20000)),
            "test: damaged JPEG: its header gives a size of 20000x20000" + end);
  EXPECT_EQ(message(test::webp_without_data(16000, 16000)),
            "test: damaged WebP: its header gives a size of 16000x16000" + end);
  EXPECT_EQ(message(test::tiff_file(Bytes(64, 1), 20000, 20000, 3)),
            "test: damaged TIFF: its header gives a size of 20000x20000" + end);
  EXPECT_EQ(message(test::bmp_file(20000, 20000, {8, 1, 40}, Bytes(1024, 0), Bytes(100, 0))),
            "test: damaged BMP: its header gives a size of 20000x20000" + end);
}

TEST(Hostile, JpegsOfManyScansAreRefused) {
  EXPECT_EQ(message(test::jpeg_of_scans(64, 64, 100)), "no error");
  EXPECT_EQ(message(test::jpeg_of_scans(64, 64, 101)),
            "test: cannot read this JPEG: it has 101 scans; at most 100 are read");
  EXPECT_EQ(message(test::jpeg_of_scans(8000, 8000, 90)),
            "test: cannot read this JPEG: its 90 scans are empty: they cover the image more often "
            "than 125179 bytes of data can change it");
}

TEST(Hostile, AnImageBeyondTheLimitSaysItsSizeTheLimitAndWhatToDo) {
  DecodeOptions options;
  options.max_pixels = 99;
  const Bytes png = test::png_file(10, std::vector<Bytes>(10, Bytes(10, 7)), {8, 0});
  EXPECT_EQ(message(png, options),
            "test: the image is too large: 10x10 are 100 pixels, the limit is 99; raise "
            "max_pixels or make the image smaller");
  options.max_pixels = 100;
  EXPECT_EQ(decoded(png, options).pixels.size(), 300u);
}

TEST(Hostile, BytesOutsideOfAJpegsScansHoldNoPixels) {
  const Bytes jpeg = test::with_jpeg_size(test::flat_jpeg({9, 9, 9}), 4000, 4000);
  const std::string text =
      "test: damaged JPEG: its header gives a size of 4000x4000, but its data is too short for "
      "that";
  Bytes behind = jpeg;
  behind.resize(behind.size() + 200'000);
  EXPECT_EQ(message(behind), text);
  EXPECT_EQ(message(test::with_jpeg_ballast(jpeg, 200'000)), text);
}

TEST(Hostile, AJpegWithLessThanHalfOfItsRowsIsRefused) {
  EXPECT_EQ(message(test::with_jpeg_size(test::flat_jpeg({9, 9, 9}), 640, 480)),
            "test: cannot decode this JPEG: its data ends after 0 % of the rows");
  const auto without = [](std::ptrdiff_t bytes) {  // of eight rows of a byte
    Bytes jpeg = test::jpeg_of_scans(64, 64, 1);
    jpeg.erase(jpeg.end() - 3 - bytes, jpeg.end() - 2);
    return jpeg;
  };
  EXPECT_EQ(decoded(without(0)).damage, "");
  EXPECT_EQ(decoded(without(4)).damage, "the data of scan 1 ends early");
  EXPECT_EQ(message(without(5)),
            "test: cannot decode this JPEG: its data ends after 37 % of the rows");
}

TEST(Hostile, ATiffWhoseJpegsHaveNoDataIsRefused) {
  const Bytes jpeg = test::with_jpeg_size(test::flat_jpeg({9}), 64, 64);
  EXPECT_EQ(message(test::tiff_of_jpeg(test::flat_jpeg({9}), 8, 8)), "no error");
  EXPECT_EQ(message(test::tiff_of_jpeg(jpeg, 64, 64)),
            "test: cannot decode this TIFF: JPEGLib: Corrupt JPEG data: premature end of data "
            "segment");
}

TEST(Hostile, ARunLengthBmpWithLessThanHalfOfItsPixelsIsRefused) {
  const Bytes palette{1, 2, 3, 0, 4, 5, 6, 0};
  EXPECT_EQ(message(test::bmp_file(4, 2, {8, 1, 40}, palette, {4, 1, 0, 1})), "no error");
  EXPECT_EQ(message(test::bmp_file(4, 2, {8, 1, 40}, palette, {3, 1, 0, 1})),
            "test: cannot decode this BMP: most of its pixels are missing");
}

TEST(Hostile, AnArithmeticJpegWithoutDataIsNotAGreyImage) {
  EXPECT_EQ(message(test::arithmetic_jpeg(16, 8, {})),
            "test: cannot read this JPEG: it holds no image data");
  EXPECT_EQ(message(test::arithmetic_jpeg(16, 8, {0xff, 0xd0})),
            "test: cannot read this JPEG: it holds no image data")
      << "restart markers are no data";
  EXPECT_EQ(message(test::arithmetic_jpeg(16, 8, {0x12, 0x34, 0xff, 0xd0, 0x56})), "no error");
}

TEST(Hostile, ABigTiffIsNamed) {
  const std::string text =
      "test: not a JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC or AVIF image: it is a BigTIFF image; "
      "convert it: tiffcp -4 FILE out.tif";
  EXPECT_EQ(message({'I', 'I', '+', 0, 8, 0, 0, 0}), text);
  EXPECT_EQ(message({'M', 'M', 0, '+', 0, 8, 0, 0}), text);
}

TEST(Hostile, ARawFileOfACameraIsNamedAndItsThumbnailIsNotTheImage) {
  const std::string text =
      "test: cannot read this TIFF: it is a camera's raw file; develop it: darktable-cli FILE "
      "out.jpg";
  const Bytes pixels(40 * 30 * 3, 99);
  EXPECT_EQ(message(test::tiff_file(pixels, 40, 30, 3, {{254, 1}, {330, 8}})), text) << "NEF, DNG";
  EXPECT_EQ(message(test::tiff_file(pixels, 40, 30, 3, {{254, 1}})), "no error") << "one of pages";
  EXPECT_EQ(message(test::with_tiff_value(test::tiff_file(pixels, 40, 30, 3), 262, 32803)), text);
}

TEST(Hostile, AnExifBlockOfManyPrefixesIsRead) {
  Bytes exif;
  for (size_t i = 0; i < 1'000'000; ++i) test::append(exif, std::string_view("Exif\0\0", 6));
  test::append(exif, test::exif_block(6, true));
  const Bytes png = test::png_file(2, {{1, 2}}, {8, 0});
  EXPECT_EQ(decoded(test::with_png_chunk(png, "eXIf", exif)).height, 2u);  // turned
}

TEST(Hostile, AFileOfPlausibleSizeCostsNoMoreThanWasDecoded) {
  Bytes header = test::big(20000, 4);
  test::append(header, test::big(20000, 4));
  test::append(header, Bytes{1, 0, 0, 0, 0});
  Bytes png;
  test::append(png, test::kPngSignature);
  test::append(png, test::png_chunk("IHDR", header));
  test::append(png, test::png_chunk("IDAT", Bytes(60000, 0x55)));
  test::append(png, test::png_chunk("IEND", {}));
  std::string text;
  EXPECT_LT(peak_megabytes([&] { text = message(png); }), 20u);
  EXPECT_THAT(text, testing::StartsWith("test: cannot decode this PNG: "));

  Bytes webp = test::webp_without_data(16000, 16000);
  webp.resize(70000, 0xff);
  const Bytes size = test::little(static_cast<std::uint32_t>(webp.size() - 8), 4);
  std::copy(size.begin(), size.end(), webp.begin() + 4);
  const Bytes chunk = test::little(static_cast<std::uint32_t>(webp.size() - 20), 4);
  std::copy(chunk.begin(), chunk.end(), webp.begin() + 16);
  EXPECT_LT(peak_megabytes([&] { text = message(webp); }), 20u);
  EXPECT_THAT(text, testing::StartsWith("test: cannot decode this WebP: "));
}

TEST(Hostile, ALargeFaxPageCostsItsPixels) {
  const Bytes fax = test::white_fax(8000, 15000);
  Image page;
  EXPECT_LT(peak_megabytes([&] { page = decoded(fax); }), 8000u * 15000 * 3 / 1'000'000 + 16);
  EXPECT_EQ(std::ranges::count(page.pixels, 255), std::ssize(page.pixels)) << "white";
  EXPECT_EQ(page.damage, "");
}

TEST(Hostile, ATiffOfManySamplesOrLargeTilesCostsLittle) {
  const Bytes data(64, 0);
  std::string text;
  Bytes tiff = test::with_tiff_value(test::tiff_file(data, 1 << 20, 1, 1), 262, 1);
  tiff = test::with_tiff_value(test::with_tiff_value(tiff, 259, 8), 277, 2000);
  EXPECT_LT(peak_megabytes([&] { text = message(tiff); }), 20u);
  EXPECT_EQ(text,
            "test: cannot decode this TIFF: it has 2000 samples per pixel; at most 16 are read");
  const auto tiled = [&](std::uint32_t width, std::uint32_t height) {
    return test::with_tiff_value(
        test::tiff_file(data, 64, 64, 8, {{322, width}, {323, height}, {324, 8}, {325, 64}}), 259,
        8);
  };
  EXPECT_LT(peak_megabytes([&] { text = message(tiled(4096, 4096)); }), 20u);
  EXPECT_EQ(text, "test: cannot decode this TIFF: its tiles of 4096x4096 pixels are too large");
  tiff = test::tiff_file(data, 1 << 16, 16, 3, {{322, 16}, {323, 1 << 18}, {324, 8}, {325, 64}});
  tiff = test::with_tiff_value(test::with_tiff_value(tiff, 259, 8), 262, 8);
  EXPECT_LT(peak_megabytes([&] { text = message(tiff); }), 20u);
  EXPECT_THAT(text, testing::StartsWith("test: cannot decode this TIFF: "));
}

TEST(Hostile, NoFileOfTheCollectionBecomesABlackPictureOrCostsMuch) {
  const auto shelf = vit::test::shared() / "reviews/attacks";
  if (!std::filesystem::is_directory(shelf)) GTEST_SKIP() << "no files at " << shelf;
  testing::internal::CaptureStderr();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(shelf)) {
    if (!entry.is_regular_file() || entry.path().filename() == "0black.png") continue;
    Image image;
    const size_t cost = peak_megabytes([&] {
      try {
        image = read_image(entry.path());
      } catch (const Error&) {
      }
    });
    EXPECT_LT(cost, 100u) << entry.path();
    EXPECT_TRUE(image.pixels.empty() || std::ranges::any_of(image.pixels, [](auto v) { return v; }))
        << entry.path();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Hostile, EndlessAndHugeFilesAreAnsweredByTheirFirstBytes) {
  const std::string start = ": not a JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC or AVIF image: ";
  EXPECT_EQ(message_of([] { read_image("/dev/zero"); }),
            "/dev/zero" + start + "it starts with the bytes 00 00 00 00 00 00 00 00");
  const auto path = std::filesystem::path(testing::TempDir()) / "vit_sparse.jpg";
  std::ofstream(path).put('\0');
  std::filesystem::resize_file(path, size_t{1} << 30);
  EXPECT_LT(peak_megabytes([&] {
              EXPECT_EQ(message_of([&] { read_image(path); }),
                        path.string() + start + "it starts with the bytes 00 00 00 00 00 00 00 00");
            }),
            20u);
  std::filesystem::resize_file(path, size_t{6} << 30);
  EXPECT_EQ(
      message_of([&] { read_image(path); }),
      path.string() + ": the file is too large: 6442450944 bytes; at most 2147483647 are read");
  std::filesystem::remove(path);
  const std::string long_name(300, 'x');
  EXPECT_EQ(message_of([&] { read_image(long_name); }),
            long_name + ": cannot open: File name too long");
}

TEST(PixelBudget, ThreadsTogetherNeverHoldMore) {
  PixelBudget budget(100);
  std::atomic<size_t> held = 0, most = 0;
  std::vector<std::jthread> threads;
  for (size_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 200; ++i) {
        const size_t pixels = 1 + (t * 37 + i * 11) % 100;
        const auto lease = budget.take(pixels);
        const size_t now = held += pixels;
        for (size_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        held -= pixels;
      }
    });
  threads.clear();
  EXPECT_LE(most, 100u);
  EXPECT_GT(most, 0u);
}

TEST(PixelBudget, EndsAWaitWhenStoppedAndServesTheOthers) {
  PixelBudget budget(100);
  auto held = budget.take(60);
  std::atomic<bool> stop{false};
  std::atomic<int> stopped{0}, served{0};
  {
    std::jthread waits([&] {
      EXPECT_THROW(budget.take(70, &stop), WaitStopped);
      ++stopped;
    });
    std::jthread behind_it([&] {
      const auto lease = budget.take(80);
      ++served;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
    waits.join();
    EXPECT_EQ(stopped, 1);
    EXPECT_EQ(served, 0);
    held.reset();
  }
  EXPECT_EQ(served, 1);
  EXPECT_NO_THROW(budget.take(100, &stop)) << "nothing to wait for";
}

TEST(PixelBudget, AnImageGivesItsShareBackWhenItGoes) {
  const Bytes png = test::png_file(10, std::vector<Bytes>(10, Bytes(10, 7)), {8, 0});
  std::vector<Image> kept;
  size_t made_room = 0;
  PixelBudget budget(250, [&] {
    ++made_room;
    kept.clear();
  });
  DecodeOptions options;
  options.budget = &budget;
  for (size_t i = 0; i < 7; ++i) kept.push_back(decoded(png, options));
  EXPECT_EQ(made_room, 3u);  // two at a time
  EXPECT_EQ(kept.size(), 1u);
  kept.clear();
}

}  // namespace
}  // namespace vit::patch
