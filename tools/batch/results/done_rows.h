/// What an earlier run has done already.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "tools/batch/inputs/inputs.h"
#include "tools/batch/results/results.h"

namespace vit::tools {

/// Compares the listing with the rows that are there, in step: rows are written in the order of the
/// listing, so as long as nothing has changed nothing needs to be remembered. From the first
/// difference on the paths of the rest are kept (8 bytes of hash each), and what is new is
/// appended.
class DoneRows {
 public:
  /// `by_place`: throws Misnumbered where a row's number is not its place. No more rows are read
  /// when `stop` becomes true: there may be millions.
  DoneRows(Results& results, bool by_place, const std::atomic<bool>& stop)
      : results_(results), by_place_(by_place), stop_(stop) {}

  /// Whether the input has its row, or is not to be computed any more. Each row counts for one
  /// input: a path that is listed twice has two rows.
  bool contains(const Input& input);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t failed() const { return failed_; }
  std::uint64_t highest_number() const { return highest_number_; }
  /// Whether all of them were read.
  bool ended() const { return ended_; }
  /// The number of the first row that was not the next one listed, 0: none.
  std::uint64_t first_difference() const { return first_difference_; }
  /// Rows whose inputs were not listed, once the listing is over.
  std::uint64_t unlisted();

 private:
  std::optional<StoredRow> next();
  void remember_rest(const StoredRow& row);

  Results& results_;
  bool by_place_;
  const std::atomic<bool>& stop_;
  std::unordered_map<std::uint64_t, std::uint64_t> rest_;  ///< rows by the hash of their path
  bool ended_ = false;
  std::atomic<std::uint64_t> rows_ = 0, failed_ = 0,
                             highest_number_ = 0;  ///< also read by who shows the progress
  std::uint64_t first_difference_ = 0;
};

}  // namespace vit::tools
