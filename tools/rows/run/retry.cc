#include "tools/rows/run/retry.h"

#include "tools/rows/header.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

bool same(const StoredRow& a, const StoredRow& b) {
  return a.number == b.number && a.path == b.path;
}

}  // namespace

Retry::Retry(const RunSettings& settings, const Json& header, const std::atomic<bool>& stop)
    : settings_(settings), stop_(stop) {
  if (!fs::exists(settings.output)) return;
  Results results = open_damaged();
  const auto stored = results.read_header();
  if (!stored) return;
  check_header(settings.output, results, *stored, header);
  header_ = *stored;
  while (next_wanted(results, stop_)) ++rows_;
}

fs::path retry_file(const fs::path& output) {
  return output.string() + ".retry";
}

fs::path Retry::output() const {
  return retry_file(settings_.output);
}

bool Retry::stale(const Json& header) const {
  if (!fs::exists(output())) return false;
  Results before = open_damaged(), retried = open(output());
  before.read_header();
  const auto stored = retried.read_header();
  if (!stored || *stored != dump(header)) return true;
  while (const auto row = retried.next()) {
    const auto wanted = next_wanted(before, stop_);
    // Rows that failed again are retried: their files may have been repaired since.
    if (!wanted || !same(*wanted, *row) || row->failed ||
        freshness_of(row->path, row->stamp) == Freshness::kChanged)
      return true;
  }
  return false;
}

Listed Retry::list(const std::atomic<bool>& stop, const TakeInput& take) const {
  Results before = open_damaged();
  before.read_header();
  InputFinder finder{.boxes = settings_.inputs.boxes};
  while (const auto row = next_wanted(before, stop)) {
    Input input = input_of_row(row->number, row->path, stop, finder);
    if (stop || !take(std::move(input))) return {};
  }
  return {.complete = !stop, .skipped = {}};
}

void Retry::apply() const {
  const fs::path joined = settings_.output.string() + ".new";
  remove_result(joined, settings_.kind);
  {
    Results before = open_damaged(), retried = open(output()), after = open(joined);
    before.read_header();
    retried.read_header();
    after.start(header_);
    // A file may have changed again since the rows were listed; the retried row is used.
    auto again = retried.next();
    while (const auto row = before.next()) {
      if (stop_) return;
      const bool replaced = again && same(*again, *row);
      if (!replaced && row->failed && settings_.retry_failed)
        fail_at(output().string(), "row ", row->number, " is missing; remove this file, and retry");
      after.append_stored(replaced ? retried : before, row->number);
      if (replaced) again = retried.next();
    }
    if (again)
      fail_at(output().string(), "row ", again->number, " is not in ", settings_.output.string(),
              "; remove this file, and retry");
    after.finish();
  }
  move_result(joined, settings_.output, settings_.kind);
  remove_result(output(), settings_.kind);
}

bool Retry::is_wanted(const StoredRow& row) const {
  return (settings_.retry_failed && row.failed) ||
         (settings_.retry_changed && freshness_of(row.path, row.stamp) == Freshness::kChanged);
}

std::optional<StoredRow> Retry::next_wanted(Results& results, const std::atomic<bool>& stop) const {
  auto row = results.next();
  while (row && !is_wanted(*row) && !stop) row = results.next();
  return stop ? std::nullopt : row;
}

Results Retry::open_damaged() const {
  Results results = open(settings_.output);
  if (settings_.retry_failed) results.take_damaged_as_failed();
  return results;
}

Results Retry::open(const fs::path& path) const {
  return Results(path, settings_.kind, settings_.shape);
}

}  // namespace vit::tools
