/// Files put into folders by the class that the model sees in them.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/rows/results.h"
#include "tools/rows/row.h"
#include "tools/rows/sorting/moves.h"

namespace vit::tools {

enum class SortBy { kNothing, kCopy, kLink, kMove };

struct SortSettings {
  SortBy by = SortBy::kNothing;
  std::filesystem::path folder;
  float least = 0.0f;  ///< probability of the best class below which a file goes to `unsure`
  std::string unsure = "unsure";
  std::string failed;         ///< folder for the files of failed rows; empty: not placed
  bool keep_folders = false;  ///< sub-folders below `bases` are kept below each class
  std::vector<std::string> bases{};
};

/// A folder for each class, by its number: its label, made fit for a file system; classes that
/// would share a folder get their number appended.
using ClassFolders = std::map<size_t, std::string>;
ClassFolders class_folders(const std::map<size_t, std::string>& labels);
ClassFolders class_folders(const std::vector<std::string>& labels, size_t classes);

/// The sub-folders of a row's file below the longest of `bases` that contains it; empty: none do.
std::filesystem::path kept_folders(const std::string& path, const std::vector<std::string>& bases);

class Sorting {
 public:
  /// Throws a UsageError if a class has the folder of unsure or failed files.
  Sorting(SortSettings settings, ClassFolders class_folders);

  /// Puts the file of a row into the folder of its best class. Call it before the row is written: a
  /// repeated call changes nothing. A name that another file has gets a hash of the path appended.
  /// A file that has vanished meanwhile makes the row a failed one. Throws an Error if the folder
  /// cannot be written.
  void place(Row& row);
  /// The same for a row of an earlier run; a file that has vanished is counted. `stop` ends the
  /// search in an archive.
  void place(const StoredRow& row, const std::atomic<bool>& stop);
  /// Moves are complete when this returns.
  void finish();

  /// ", 353 linked into 351 folders, 647 into unsure"; empty if nothing is to be sorted. Few
  /// folders are listed: "12 copied into 2 folders (fox 8, deer 4)".
  std::string summary() const;
  /// "2 files of earlier rows could not be sorted, the first: x.jpg: no such file", or empty.
  std::string problem() const;

 private:
  Input input_of(const StoredRow& row, const std::atomic<bool>& stop);
  /// None: the row's file is not placed. `best`: null if the row has no class.
  std::optional<std::string> folder_of(bool failed, const Prediction* best) const;
  /// Throws an Unreadable that starts with the input's path if that cannot be read.
  void put(const Input& input, const std::string& folder);
  void count(const std::string& folder);

  SortSettings settings_;
  ClassFolders class_folders_;
  std::optional<Moves> moves_;
  InputFinder finder_;
  std::map<std::string, std::uint64_t> placed_;  ///< files of each folder of a class
  std::uint64_t unsure_ = 0, failed_ = 0, failed_unplaced_ = 0, vanished_ = 0;
  std::string first_problem_;
};

/// Places the files of all rows in a file of results whose header was read, until `stop`.
void sort_rows(Results& results, Sorting& sorting, const std::atomic<bool>& stop);

}  // namespace vit::tools
