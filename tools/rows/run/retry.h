/// --retry-failed and --changed: computes failed rows, and those of changed files, again, in place.
///
/// The retry is a run of its own into "OUT.retry", which can be resumed like any other. When it is
/// complete, a new file made from both replaces the old one.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "tools/rows/run/run.h"

namespace vit::tools {

/// The output of a retry until it is complete.
std::filesystem::path retry_file(const std::filesystem::path& output);

class Retry {
 public:
  /// Counts the rows to be computed again, until `stop` becomes true. Throws an Error if the file
  /// has another header.
  Retry(const RunSettings& settings, const Json& header, const std::atomic<bool>& stop);

  std::uint64_t rows() const { return rows_; }
  std::filesystem::path output() const;
  /// Whether the existing file belongs to another retry.
  bool stale(const Json& header) const;
  /// The inputs of these rows.
  Listed list(const std::atomic<bool>& stop, const TakeInput& take) const;
  /// Leaves the file unchanged if `stop` becomes true meanwhile.
  void apply() const;

 private:
  bool is_wanted(const StoredRow& row) const;
  /// None when `stop` is true.
  std::optional<StoredRow> next_wanted(Results& results, const std::atomic<bool>& stop) const;
  Results open(const std::filesystem::path& path) const;
  /// The file; with --retry-failed, rows that are damaged and can be computed again are failed
  /// ones.
  Results open_damaged() const;

  const RunSettings& settings_;
  const std::atomic<bool>& stop_;
  std::string header_;  ///< of the file
  std::uint64_t rows_ = 0;
};

}  // namespace vit::tools
