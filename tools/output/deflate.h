/// Compression of bytes in memory.
#pragma once

#include <string>
#include <string_view>

namespace vit::tools {

enum class DeflateFrame { kZlib, kGzip };

struct DeflateSettings {
  DeflateFrame frame = DeflateFrame::kZlib;
  int level = 6;              ///< from 1, fast, to 9
  bool only_letters = false;  ///< codes of single bytes, no search for repeated texts: for noise
};

std::string deflated(std::string_view bytes, const DeflateSettings& settings = {});

}  // namespace vit::tools
