/// Writes short videos.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vit::tools {

struct TestVideo {
  int width = 64, height = 48;
  int rate = 10;                  ///< pictures per second
  int each = 10;                  ///< pictures of each brightness
  std::vector<int> brightness{};  ///< of one flat grey after the other, 16 to 235
  int turn = 0;                   ///< degrees that a player must turn it clockwise
  const char* encoder = "mpeg4";
  int key_distance = 12;
};

/// The ending of the path decides the format. Throws if FFmpeg has no such encoder.
void write_video(const std::string& path, const TestVideo& video);

}  // namespace vit::tools
