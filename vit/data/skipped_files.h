/// Files in a folder or an archive that are no images, counted by their ending.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace vit::data {

class SkippedFiles {
 public:
  /// Long endings, and new ones after the first hundred, count as "other endings": names come from
  /// outside.
  void add(std::string_view name);
  /// A pipe, socket or device.
  void add_special();

  /// By ending in lower case with its dot, or "no ending", "other endings", "special".
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
  /// "skipped: 130 .nef, 7 .mp4, 2 with no ending", the most frequent first; empty if none was.
  std::string text() const;

 private:
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace vit::data
