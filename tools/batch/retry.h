/// --retry-failed: the failed rows of a file once more, in their places.
///
/// They are a run of their own into "OUT.retry", which is gone on with like any other. When it is
/// complete, a new file is made of both, and takes the old one's name.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "tools/batch/run.h"

namespace vit::tools {

/// Where the results of a retry go until it is complete.
std::filesystem::path retry_file(const std::filesystem::path& output);

class Retry {
 public:
  /// Counts the failed rows, until `stop` becomes true. Throws an Error if the file was made
  /// differently than `header` says.
  Retry(const RunSettings& settings, const Json& header, const std::atomic<bool>& stop);

  std::uint64_t failed() const { return failed_; }
  std::filesystem::path output() const;
  /// Whether what is there is of another retry.
  bool stale(const Json& header) const;
  /// The inputs of the failed rows.
  Listed list(const std::atomic<bool>& stop, const TakeInput& take) const;
  /// Leaves the file as it is when `stop` becomes true before its time.
  void apply() const;

 private:
  Results open(const std::filesystem::path& path) const;
  /// The file; rows that are damaged and can be computed again are failed ones.
  Results open_damaged() const;

  const RunSettings& settings_;
  const std::atomic<bool>& stop_;
  std::string header_;  ///< of the file
  std::uint64_t failed_ = 0;
};

}  // namespace vit::tools
