/// The rows of an earlier run.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "tools/inputs/inputs.h"
#include "tools/rows/results.h"

namespace vit::tools {

/// Compares the listing with the existing rows in step: rows are in the order of the listing, so
/// that nothing is stored as long as they agree. After the first difference the paths of the
/// remaining rows are kept (8 bytes of hash and 16 of size and time each), and new inputs are
/// appended.
class DoneRows {
 public:
  /// `by_place`: throws Misnumbered if a row's number is not its place. No more rows are read
  /// when `stop` becomes true: there may be millions.
  DoneRows(Results& results, bool by_place, const std::atomic<bool>& stop)
      : results_(results), by_place_(by_place), stop_(stop) {}

  /// Whether the input has its row; true for all once `stop` is set. Each row counts for one input:
  /// a path that is listed twice has two rows.
  bool contains(const Input& input);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t failed() const { return failed_; }
  std::uint64_t highest_number() const { return highest_number_; }
  /// Files whose size or time differs from that in their rows.
  std::uint64_t changed() const { return changed_; }
  /// Whether all of them were read.
  bool ended() const { return ended_; }
  /// The place of the first row that is not the input listed at the same place; 0: none.
  std::uint64_t first_difference() const { return first_difference_; }
  /// Rows whose inputs were not listed, once the listing is over.
  std::uint64_t unlisted();

 private:
  std::optional<StoredRow> next();
  void remember_rest(const StoredRow& row);
  void note_change(const Input& input, const Stamp& before);

  struct Rest {
    std::uint64_t rows = 0;
    Stamp stamp{};
  };

  Results& results_;
  bool by_place_;
  const std::atomic<bool>& stop_;
  std::unordered_map<std::uint64_t, Rest> rest_;  ///< rows by the hash of their path
  bool ended_ = false;
  std::atomic<std::uint64_t> rows_ = 0, failed_ = 0,
                             highest_number_ = 0;  ///< also read by the progress display
  std::uint64_t first_difference_ = 0;
  std::uint64_t changed_ = 0;
};

}  // namespace vit::tools
