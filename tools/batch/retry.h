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

class Retry {
 public:
  /// Counts the failed rows. Throws an Error if the file was made differently than `header` says.
  Retry(const RunSettings& settings, const Json& header);

  std::uint64_t failed() const { return failed_; }
  /// Where the results of the retry go.
  std::filesystem::path output() const;
  /// Whether what is there is of another retry.
  bool stale(const Json& header) const;
  /// The inputs of the failed rows.
  Listed list(const std::atomic<bool>& stop, const TakeInput& take) const;
  void apply() const;

 private:
  Results open(const std::filesystem::path& path) const;
  /// The file; rows that are damaged and can be computed again are failed ones.
  Results open_damaged() const;

  const RunSettings& settings_;
  std::string header_;  ///< of the file
  std::uint64_t failed_ = 0;
};

}  // namespace vit::tools
