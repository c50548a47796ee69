#include "tools/cli/suggest.h"

#include <algorithm>
#include <vector>

namespace vit::tools {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table suffice; a swap of neighbours looks two rows back.
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string nearest(std::string_view typed, std::span<const std::string> candidates) {
  if (typed.empty()) return {};
  const auto begins_with_typed = [&](const std::string& c) { return c.starts_with(typed); };
  if (std::ranges::count_if(candidates, begins_with_typed) == 1)
    return *std::ranges::find_if(candidates, begins_with_typed);

  std::string best;
  // One typing mistake per three letters; with more it is another word.
  size_t best_distance = typed.size() / 3 + 2;
  for (const auto& candidate : candidates) {
    const size_t distance = edit_distance(typed, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace vit::tools
