/// Frames of videos, by the module that loads FFmpeg.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "patch/image/pixel_budget.h"
#include "patch/video/video.h"
#include "tests/support/message_of.h"
#include "tests/tools/sources/video_maker.h"
#include "tests/tools/subprocess.h"
#include "tools/sources/video_frames.h"
#include "vit/data/directory.h"

namespace vit::tools {
namespace {

using data::kNeverStop;
using testing::HasSubstr;
using testing::StartsWith;
using vit::test::message_of;

/// Of the right half, in the range that the encoder was given: 16 to 235, or all.
int brightness_at(patch::Video& video, double seconds, bool full = false) {
  const patch::Image image = video.frame(seconds, {});
  const std::uint8_t* pixel = image.row(image.height / 2) + 3 * (image.width * 3 / 4);
  return full ? pixel[1] : static_cast<int>(std::lround(pixel[1] * 219.0 / 255 + 16));
}

std::vector<int> steps(int count) {
  std::vector<int> levels;
  for (int i = 0; i < count; ++i) levels.push_back(40 + 190 * i / count);
  return levels;
}

TEST(Videos, GiveTheFrameOfATimeInAnyOrder) {
  const Folder folder;
  for (const auto& [name, encoder] : {std::pair{"a.mp4", "mpeg4"},
                                      {"a.mkv", "mpeg4"},
                                      {"a.mov", "mjpeg"},
                                      {"a.avi", "mpeg4"},
                                      {"a.mpg", "mpeg2video"},
                                      {"a.ts", "mpeg2video"}}) {
    const auto levels = steps(8);
    const int rate = std::string(encoder) == "mpeg2video" ? 25 : 10;
    write_video(folder.path(name),
                {.rate = rate, .each = rate, .brightness = levels, .encoder = encoder});
    const auto video = open_video(folder.path(name), 1000, kNeverStop);
    EXPECT_NEAR(video->seconds(), 8.0, 0.11) << name;
    for (const int i : {0, 1, 2, 3, 5, 4, 7, 6, 0, 7, 3})
      EXPECT_NEAR(brightness_at(*video, i + 0.5, encoder == std::string("mjpeg")),
                  levels[static_cast<size_t>(i)], 4)
          << name << " at " << i;
  }
}

TEST(Videos, GiveTheFrameThatIsShownAtATimeAndNotTheNextOne) {
  const Folder folder;
  write_video(folder.path("a.mp4"), {.each = 1, .brightness = {50, 100, 150, 200, 230}});
  const auto video = open_video(folder.path("a.mp4"), 100, kNeverStop);
  EXPECT_EQ(count_frames(*video, folder.path("a.mp4"), 100), 5);
  EXPECT_EQ(count_frames(*video, folder.path("a.mp4"), 1000), 1);
  for (const auto& [time, level] :
       {std::pair{0.0, 50}, {0.05, 50}, {0.1, 100}, {0.199, 100}, {0.2, 150}, {0.45, 230}})
    EXPECT_NEAR(brightness_at(*video, time), level, 5) << time;
}

TEST(Videos, AreReadByManyThreads) {
  const Folder folder;
  const auto levels = steps(20);
  write_video(folder.path("a.mp4"), {.each = 10, .brightness = levels});
  const auto video = open_video(folder.path("a.mp4"), 1000, kNeverStop);
  std::vector<std::jthread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = t; i < levels.size(); i += 4)
        EXPECT_NEAR(brightness_at(*video, static_cast<double>(i)), levels[i], 4) << i;
    });
}

TEST(Videos, AreTurnedAsTheySay) {
  const Folder folder;
  const auto dark = [&](int turn) {
    write_video(folder.path("a.mp4"), {.brightness = {200}, .turn = turn});
    const patch::Image image = open_video(folder.path("a.mp4"), 0, kNeverStop)->frame(0, {});
    const auto at = [&](size_t x, size_t y) { return image.row(y)[3 * x] < 205; };
    return std::to_string(image.width) + "x" + std::to_string(image.height) +
           (at(1, image.height / 2) ? " left" : "") +
           (at(image.width / 2, 1) && !at(image.width / 2, image.height - 2) ? " top" : "") +
           (at(image.width - 2, image.height / 2) && !at(1, image.height / 2) ? " right" : "") +
           (at(image.width / 2, image.height - 2) && !at(image.width / 2, 1) ? " bottom" : "");
  };
  EXPECT_THAT(dark(0), StartsWith("64x48 left"));
  EXPECT_THAT(dark(90), HasSubstr("48x64"));
  EXPECT_THAT(dark(90), HasSubstr(" top"));
  EXPECT_THAT(dark(180), HasSubstr("64x48 right"));
  EXPECT_THAT(dark(270), HasSubstr(" bottom"));
}

TEST(Videos, ThatAreDamagedSayWhat) {
  const Folder folder;
  write_video(folder.path("a.mp4"), {.brightness = steps(5)});
  const std::string whole = read_file(folder.path("a.mp4"));
  const auto open = [&](const std::string& bytes) {
    folder.write("b.mp4", bytes);
    return message_of([&] { open_video(folder.path("b.mp4"), 1000, kNeverStop); });
  };
  const std::string start = folder.path("b.mp4") + ": cannot read this video: ";
  EXPECT_EQ(open(""), start + "Invalid data found when processing input");
  EXPECT_EQ(open("this is no video at all"), start + "Invalid data found when processing input");
  EXPECT_EQ(open(whole.substr(0, whole.find("moov"))),
            start + "Invalid data found when processing input");
  EXPECT_EQ(open(whole.substr(0, whole.find("moov") + 200)),
            folder.path("b.mp4") + ": it holds no pictures, or is cut short");
  // A list of other files must not be followed.
  EXPECT_THAT(open("#EXTM3U\n#EXTINF:1,\n/etc/passwd\n"), StartsWith(start));
  EXPECT_THAT(open("ffconcat version 1.0\nfile a.mp4\n"), StartsWith(start));
}

TEST(Videos, SurviveDamageAnywhere) {
  const Folder folder;
  for (const auto* name : {"a.mp4", "a.mkv", "a.avi", "a.ts"}) {
    const bool stream = std::string(name) == "a.ts";
    write_video(folder.path(name), {.rate = 25,
                                    .each = 5,
                                    .brightness = steps(5),
                                    .encoder = stream ? "mpeg2video" : "mpeg4"});
    const std::string whole = read_file(folder.path(name));
    unsigned value = 7;
    for (int round = 0; round < 60; ++round) {
      std::string damaged = whole;
      for (int i = 0; i <= round % 5; ++i) {
        value = value * 1664525 + 1013904223;
        damaged[(value >> 8) % damaged.size()] = static_cast<char>(value >> 24);
      }
      if (round % 4 == 0) damaged.resize(damaged.size() * static_cast<size_t>(round) / 60);
      folder.write(name, damaged);
      message_of([&] {
        const auto video = open_video(folder.path(name), 200, kNeverStop);
        const auto count = std::min<std::int64_t>(count_frames(*video, folder.path(name), 200), 20);
        for (std::int64_t i = 0; i < count; ++i)
          message_of([&] { video->frame(static_cast<double>(i) / 5, {}); });
      });
    }
  }
}

TEST(Videos, KeepTheLimitOfPixelsAndTheStop) {
  const Folder folder;
  write_video(folder.path("a.mp4"), {.brightness = {100, 200}});
  const auto video = open_video(folder.path("a.mp4"), 0, kNeverStop);
  patch::DecodeOptions options;
  options.max_pixels = 64 * 48 - 1;
  EXPECT_EQ(message_of([&] { video->frame(0, options); }),
            "the video is too large: 64x48 are 3072 pixels, the limit is 3071; raise max_pixels or "
            "make it smaller");
  const std::atomic<bool> stopped{true};
  EXPECT_THROW(open_video(folder.path("a.mp4"), 0, stopped), patch::WaitStopped);
  patch::DecodeOptions stopping;
  stopping.stop = &stopped;
  EXPECT_THROW(video->frame(1.5, stopping), patch::WaitStopped);
  EXPECT_NEAR(brightness_at(*video, 1.5), 200, 4) << "after a stop";
}

TEST(Videos, WithoutPicturesAtATimeSaySo) {
  const Folder folder;
  write_video(folder.path("a.mp4"), {.brightness = {100}});
  const auto video = open_video(folder.path("a.mp4"), 0, kNeverStop);
  EXPECT_THAT(message_of([&] { video->frame(20, {}); }), StartsWith("the video ends after 1.0"));
}

TEST(FrameNames, HaveTheFewestDecimalsAndAreReadBack) {
  const Folder folder;
  folder.write("a.mp4", "");
  folder.write("b.mp4#t=1.0", "");
  const std::string path = folder.path("a.mp4");
  for (const auto& [milliseconds, text] : {std::pair{0, "0.0"},
                                           {12000, "12.0"},
                                           {500, "0.5"},
                                           {1250, "1.25"},
                                           {3'600'001, "3600.001"}}) {
    EXPECT_EQ(frame_name(path, milliseconds), path + "#t=" + text);
    EXPECT_EQ(split_frame_name(path + "#t=" + text)->milliseconds, milliseconds);
  }
  EXPECT_FALSE(split_frame_name(path));
  EXPECT_FALSE(split_frame_name(path + "#t=x"));
  EXPECT_FALSE(split_frame_name(path + "#t=-1"));
  EXPECT_FALSE(split_frame_name(folder.path("gone.mp4#t=1.0")));
  EXPECT_FALSE(split_frame_name(folder.path("b.mp4#t=1.0"))) << "a file of this name";
}

TEST(Durations, HaveAUnit) {
  for (const auto& [text, milliseconds] :
       {std::pair{"1s", 1000}, {"0.5s", 500}, {"500ms", 500}, {"2m", 120'000}, {"1h", 3'600'000}})
    EXPECT_EQ(parse_duration(text), milliseconds) << text;
  for (const auto* text : {"", "1", "s", "0s", "-1s", "1 s", "0.1ms", "1d", "1e9h", "nans"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

}  // namespace
}  // namespace vit::tools
