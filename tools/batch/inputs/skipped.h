/// Files that a folder or an archive holds and that are no images, counted by their ending.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace vit::tools {

class SkippedFiles {
 public:
  /// Names are foreign: long endings, and those after the first hundred, count as "other endings".
  void add(std::string_view name);

  /// By ending in small letters with its dot, or "no ending".
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
  /// "skipped: 130 .heic, 7 .mp4, 2 with no ending", the most frequent first; empty if none was.
  std::string text() const;

 private:
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace vit::tools
