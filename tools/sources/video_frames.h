/// Frames of video files as inputs: "clip.mp4#t=12.0" is the picture that is shown after 12 s.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "patch/video/video.h"

namespace vit::tools {

struct FrameName {
  std::string video;
  std::int64_t milliseconds = 0;
};

/// None if there is a file of the whole name, or if the video is not a file or does not end like
/// one.
std::optional<FrameName> split_frame_name(const std::string& path);

/// With as many decimals as are needed, one at least.
std::string frame_name(const std::string& video, std::int64_t milliseconds);

/// `step`: the time from frame to frame, 0 if none is known. Throws an Error that starts with
/// the path, and WaitStopped.
std::shared_ptr<patch::Video> open_video(const std::string& path, std::int64_t step,
                                         const std::atomic<bool>& stop);

/// How many frames a video has at multiples of `step` milliseconds. Throws an Error if it claims
/// to be longer than its bytes allow.
std::int64_t count_frames(const patch::Video& video, const std::string& path, std::int64_t step);

/// "1s", "0.5s", "500ms", "2m" or "1h", in milliseconds. None if it is not such a time.
std::optional<std::int64_t> parse_duration(const std::string& text);

}  // namespace vit::tools
