/// Single frames of video files, by FFmpeg's libraries, which are loaded when the first video is
/// opened.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "patch/image/image.h"

namespace vit::patch {

struct VideoState;

/// By its ending, in any case: .mp4, .mov, .mkv, .webm, .avi and others.
bool looks_like_video(std::string_view name);

/// The bytes of a video.
struct VideoSource {
  std::string name;  ///< opens the messages
  std::uint64_t size = 0;
  /// Fills the bytes from an offset on; returns how many there were. In one thread at a time.
  std::function<size_t(std::uint64_t offset, std::span<std::byte> bytes)> read;
};

/// Any thread may use it; one frame is decoded at a time. Frames that are asked for in the order of
/// their times are decoded once.
class Video {
 public:
  /// `step` in seconds: most frames that are asked for are at multiples of it; 0: nothing is known.
  /// Throws an Error if it is no video, or one without pictures, and WaitStopped when `stop` is
  /// set.
  Video(VideoSource source, double step, const std::atomic<bool>& stop);
  ~Video();
  Video(const Video&) = delete;
  Video& operator=(const Video&) = delete;

  /// From the first picture to the end of the last one, as far as the file goes.
  double seconds() const { return seconds_; }

  /// The picture that is shown at a time, turned as the video says. Throws an Error without the
  /// name, and WaitStopped.
  Image frame(double seconds, const DecodeOptions& options);

 private:
  const VideoSource source_;
  std::mutex mutex_;
  VideoState* state_ = nullptr;
  double seconds_ = 0;
};

}  // namespace vit::patch
