#include "tools/duplicates/groups.h"

#include <algorithm>
#include <array>

#include "tools/indexed/stamp.h"
#include "vit/index/duplicates.h"

namespace vit::tools {
namespace {

using index::Entry;

std::uint64_t pixels_of(const Entry& entry) {
  return std::uint64_t{entry.width} * entry.height;
}

/// Whether `a` is kept in preference to `b`.
bool is_better(const Entry& a, const Entry& b) {
  if (pixels_of(a) != pixels_of(b)) return pixels_of(a) > pixels_of(b);
  if (a.bytes != b.bytes) return a.bytes > b.bytes;
  if (a.path.size() != b.path.size()) return a.path.size() < b.path.size();
  return a.path < b.path;
}

bool has_same_content(const Entry& a, const Entry& b) {
  return a.content == b.content && a.content != decltype(a.content){};
}

/// Why `kept` stays and not `next`, the best of the others.
std::string reason_to_keep(const Entry& kept, const Entry& next) {
  if (pixels_of(kept) != pixels_of(next)) return "most pixels";
  if (kept.bytes != next.bytes) return "largest file among those with the most pixels";
  if (kept.path.size() != next.path.size())
    return "as many pixels and bytes as another, shortest path";
  return "as many pixels and bytes as another, first by name";
}

std::string reason_against(const Entry& entry, const Entry& kept) {
  if (has_same_content(entry, kept)) return "same content";
  if (pixels_of(entry) != pixels_of(kept)) return "fewer pixels";
  if (entry.bytes != kept.bytes) return "as many pixels, smaller file";
  if (entry.path.size() != kept.path.size()) return "as many pixels and bytes, longer path";
  return "as many pixels and bytes, later by name";
}

ImageGroup explained(const index::Index& index, const index::DuplicateGroup& group) {
  const Entry& kept = index.entries[group.kept];
  ImageGroup result;
  result.kept = {.row = group.kept,
                 .reason = reason_to_keep(kept, index.entries[group.others.front().row])};
  for (const auto& hit : group.others)
    result.others.push_back({hit.row, hit.score, reason_against(index.entries[hit.row], kept)});
  return result;
}

std::uint64_t bytes_of_others(const index::Index& index, const ImageGroup& group) {
  std::uint64_t bytes = 0;
  for (const auto& member : group.others) bytes += index.entries[member.row].bytes;
  return bytes;
}

}  // namespace

Duplicates find_duplicates(const index::Index& index, float threshold, const Execution& execution) {
  Duplicates duplicates;
  std::vector<size_t> order;
  for (const size_t row : index::live_rows(index.vectors)) {
    const Freshness fresh = freshness_of(index.entries[row]);
    if (fresh == Freshness::kSame)
      order.push_back(row);
    else
      ++(fresh == Freshness::kGone ? duplicates.gone : duplicates.changed);
  }
  duplicates.images = order.size();
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return is_better(index.entries[a], index.entries[b]); });
  for (const auto& group : index::group_duplicates(index.vectors, order, threshold, execution)) {
    duplicates.groups.push_back(explained(index, group));
    duplicates.others += group.others.size();
    duplicates.bytes += bytes_of_others(index, duplicates.groups.back());
  }
  std::ranges::stable_sort(duplicates.groups, std::greater(),
                           [&](const ImageGroup& group) { return bytes_of_others(index, group); });
  return duplicates;
}

}  // namespace vit::tools
