#include "tools/batch/inputs/skipped.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "tools/output/format.h"

namespace vit::tools {
namespace {

constexpr std::size_t kMostEndings = 100;
constexpr std::size_t kLongestEnding = 16;
constexpr const char* kNone = "no ending";
constexpr const char* kOther = "other endings";

/// Of "a/b.tar.gz" it is ".gz", of "README" and "b." there is none.
std::string ending_of(std::string_view name) {
  name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0 || dot + 1 == name.size()) return kNone;
  std::string ending(name.substr(dot));
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

}  // namespace

void SkippedFiles::add(std::string_view name) {
  std::string ending = ending_of(name);
  const bool known = counts_.contains(ending);
  if (!known && (ending.size() > kLongestEnding || counts_.size() >= kMostEndings)) ending = kOther;
  ++counts_[ending];
}

std::string SkippedFiles::text() const {
  std::vector<std::pair<std::string, std::uint64_t>> endings(counts_.begin(), counts_.end());
  std::ranges::stable_sort(endings, std::greater(), [](const auto& e) { return e.second; });
  std::string text;
  for (const auto& [ending, count] : endings)
    text += (text.empty() ? "skipped: " : ", ") + format_count(count) +
            (ending.starts_with('.') ? " " : " with ") + ending;
  return text;
}

}  // namespace vit::tools
