#include "vit/data/skipped_files.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "vit/base/text.h"

namespace vit::data {
namespace {

constexpr std::size_t kMostEndings = 100;
constexpr std::size_t kLongestEnding = 16;
constexpr const char* kNone = "no ending";
constexpr const char* kOther = "other endings";
constexpr const char* kSpecial = "special";

std::string described(const std::string& ending) {
  if (ending.starts_with('.')) return ending;
  return ending == kSpecial ? "special (pipe, socket or device)" : "with " + ending;
}

}  // namespace

void SkippedFiles::add(std::string_view name) {
  std::string ending = ending_of(name);
  if (ending.empty()) ending = kNone;
  const bool known = counts_.contains(ending);
  if (!known && (ending.size() > kLongestEnding || counts_.size() >= kMostEndings)) ending = kOther;
  ++counts_[ending];
}

void SkippedFiles::add_special() {
  ++counts_[kSpecial];
}

std::string SkippedFiles::text() const {
  std::vector<std::pair<std::string, std::uint64_t>> endings(counts_.begin(), counts_.end());
  std::ranges::stable_sort(endings, std::greater(), [](const auto& e) { return e.second; });
  std::string text;
  for (const auto& [ending, count] : endings)
    text += (text.empty() ? "skipped: " : ", ") + format_count(count) + " " + described(ending);
  return text;
}

}  // namespace vit::data
