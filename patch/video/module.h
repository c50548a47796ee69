/// Between the library and the module that knows FFmpeg.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "patch/video/video.h"

namespace vit::patch {

struct VideoOpening {
  const VideoSource& source;  ///< outlives the state
  double step = 0;
  const std::atomic<bool>& stop;
};

struct VideoPicture {
  Image image{};
  int orientation = 1;  ///< EXIF's
};

/// The functions return what is wrong, empty if nothing is. When `stop` is set they return
/// kVideoStopped. No exception leaves the module.
struct VideoModule {
  std::string (*open)(const VideoOpening& opening, VideoState*& state, double& seconds);
  std::string (*size)(VideoState& state, size_t& width, size_t& height);
  std::string (*frame)(VideoState& state, double seconds, const std::atomic<bool>& stop,
                       VideoPicture& picture);
  void (*close)(VideoState* state);
};
inline constexpr const char* kVideoSymbol = "vit_video";
inline constexpr const char* kVideoStopped = "stopped";
inline constexpr const char* kVideoOutOfMemory = "out of memory";

}  // namespace vit::patch
