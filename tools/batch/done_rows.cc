#include "tools/batch/done_rows.h"

#include "tools/batch/shard.h"

namespace vit::tools {

bool DoneRows::contains(const Input& input) {
  if (!ended_) {
    const auto row = next();
    if (row && row->path == input.path) return true;
    if (row) remember_rest(*row);
  }
  if (rest_.empty()) return false;
  const auto found = rest_.find(path_hash(input.path));
  if (found == rest_.end()) return false;
  if (--found->second == 0) rest_.erase(found);
  return true;
}

std::uint64_t DoneRows::unlisted() {
  std::uint64_t count = 0;
  while (!ended_)
    if (next()) ++count;
  for (const auto& [hash, rows] : rest_) count += rows;
  return count;
}

std::optional<StoredRow> DoneRows::next() {
  auto row = results_.next();
  if (!row) ended_ = true;
  if (row) ++rows_;
  if (row && row->failed) ++failed_;
  return row;
}

void DoneRows::remember_rest(const StoredRow& row) {
  first_difference_ = rows_;
  for (std::optional<StoredRow> rest = row; rest; rest = next()) ++rest_[path_hash(rest->path)];
}

}  // namespace vit::tools
