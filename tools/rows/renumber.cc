#include "tools/rows/renumber.h"

namespace vit::tools {

void renumber(const std::filesystem::path& path, ResultKind kind, const RowShape& shape) {
  const std::filesystem::path beside = path.string() + ".new";
  remove_result(beside, kind);
  try {
    Results before(path, kind, shape), after(beside, kind, shape);
    const auto header = before.read_header();
    if (!header) fail_at(path.string(), "its header is gone; start again with --restart");
    after.start(*header);
    for (std::uint64_t number = 1; before.next(); ++number) after.append_stored(before, number);
    after.finish();
  } catch (...) {
    remove_result(beside, kind);
    throw;
  }
  move_result(beside, path, kind);
}

}  // namespace vit::tools
