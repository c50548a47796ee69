/// Files moved into a folder, with a journal in it from which they can be moved back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "tools/output/lock.h"
#include "tools/rows/sorting/place_file.h"

namespace vit::tools {

/// The journal of a folder: a JSON object for each move, written before the file is moved.
std::filesystem::path journal_of(const std::filesystem::path& folder);

class Moves {
 public:
  /// Opens or makes the journal of `folder`. Throws an Error, also if another program uses it.
  explicit Moves(std::filesystem::path folder);
  ~Moves();
  Moves(const Moves&) = delete;
  Moves& operator=(const Moves&) = delete;

  /// Whether this run or an earlier one has moved the file, or is about to.
  bool knows(const std::string& path) const;
  /// Plans to move a plain file into a folder below that of the journal. Throws Unreadable for a
  /// file that cannot be moved.
  void add(const Input& input, const std::filesystem::path& into);
  /// Writes the planned moves to the journal, then moves the files.
  void flush();

 private:
  struct Move {
    std::filesystem::path from, to, apart;
  };

  void read_journal();
  void write(const std::filesystem::path& from, const std::filesystem::path& to);
  void sync();

  std::filesystem::path folder_;
  std::optional<OutputLock> lock_;
  int journal_ = -1;
  std::string pending_;  ///< lines of the journal
  std::vector<Move> planned_;
  std::unordered_set<std::string> names_;     ///< that planned files will have
  std::unordered_set<std::uint64_t> before_;  ///< hashes of the paths in the journal
  std::unordered_set<std::uint64_t> now_;     ///< hashes of the paths of this run
};

struct Undone {
  std::uint64_t files = 0;  ///< that were moved back
  std::vector<std::string> problems;
};

/// Moves the files of a folder's journal back, the last one first, and removes folders that are
/// then empty. What cannot be moved back stays in the folder and in the journal. Throws an Error if
/// there is no journal.
Undone undo_moves(const std::filesystem::path& folder, const std::function<bool()>& stop);

}  // namespace vit::tools
