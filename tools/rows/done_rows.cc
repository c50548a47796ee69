#include "tools/rows/done_rows.h"

#include <algorithm>

#include "tools/rows/renumber.h"
#include "tools/rows/shard.h"

namespace vit::tools {

bool DoneRows::contains(const Input& input) {
  if (!ended_) {
    const auto row = next();
    if (row && row->path == input.path) {
      note_change(input, row->stamp);
      return true;
    }
    if (row) remember_rest(*row);
  }
  if (stop_) return true;
  if (rest_.empty()) return false;
  const auto found = rest_.find(path_hash(input.path));
  if (found == rest_.end()) return false;
  note_change(input, found->second.stamp);
  if (--found->second.rows == 0) rest_.erase(found);
  return true;
}

std::uint64_t DoneRows::unlisted() {
  std::uint64_t count = 0;
  while (!ended_ && !stop_)
    if (next()) ++count;
  for (const auto& [hash, rest] : rest_) count += rest.rows;
  return count;
}

void DoneRows::note_change(const Input& input, const Stamp& before) {
  if (freshness_of(input, before) == Freshness::kChanged) ++changed_;
}

std::optional<StoredRow> DoneRows::next() {
  if (stop_) return std::nullopt;
  auto row = results_.next();
  if (!row) ended_ = true;
  if (!row) return row;
  ++rows_;
  if (row->failed) ++failed_;
  highest_number_ = std::max<std::uint64_t>(highest_number_, row->number);
  if (by_place_ && row->number != rows_)
    throw Misnumbered("row " + std::to_string(rows_) + " has the number " +
                      std::to_string(row->number));
  return row;
}

void DoneRows::remember_rest(const StoredRow& row) {
  first_difference_ = rows_;
  for (std::optional<StoredRow> next_row = row; next_row; next_row = next()) {
    Rest& rest = rest_[path_hash(next_row->path)];
    ++rest.rows;
    rest.stamp = next_row->stamp;
  }
}

}  // namespace vit::tools
