/// Files put into folders by the class that the model sees in them.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/batch/results/results.h"
#include "tools/batch/results/row.h"

namespace vit::tools {

enum class SortBy { kNothing, kCopy, kLink };

/// A folder for each class: its label, made fit for a file system; classes that would share one
/// have their number behind it.
std::vector<std::string> class_folders(const std::vector<std::string>& labels, size_t classes);

class Sorting {
 public:
  Sorting(SortBy by, std::filesystem::path folder, std::vector<std::string> class_folders)
      : by_(by), folder_(std::move(folder)), class_folders_(std::move(class_folders)) {}

  /// Puts the file of a row that names a class into its folder; other rows have none. To be done
  /// before the row is written: done twice, it changes nothing. A name that another file has taken
  /// gets a hash of the path behind it. A file that has vanished meanwhile makes the row a failed
  /// one. Throws an Error if the folder cannot be written.
  void place(Row& row);
  /// The same for a row of an earlier run; a file that has vanished is counted. `stop` ends the
  /// walk through an archive.
  void place(const StoredRow& row, const std::atomic<bool>& stop);

  /// ", 353 linked into 351 folders, 647 below --min-probability 0.8 not placed"; empty if nothing
  /// is to be sorted. `least` is the probability of a class that is named.
  std::string summary(float least) const;
  /// "2 files of earlier rows could not be sorted, the first: x.jpg: no such file", or empty.
  std::string problem() const;

 private:
  /// Members of the archive that was looked into last: rows come in its order.
  struct Archive {
    std::string path;
    std::string problem;
    std::shared_ptr<const ReadableFile> file;
    std::unordered_map<std::string, std::pair<std::uint64_t, std::uint64_t>> members;
  };

  Input input_of(const StoredRow& row, const std::atomic<bool>& stop);
  const Archive& open_archive(const std::string& path, const std::atomic<bool>& stop);
  /// Throws an Error that opens with the input's path if that cannot be read.
  void put(const Input& input, size_t best_class);

  SortBy by_;
  std::filesystem::path folder_;
  std::vector<std::string> class_folders_;
  Archive archive_;
  std::set<size_t> classes_;  ///< that have got a file
  std::uint64_t placed_ = 0, without_class_ = 0, vanished_ = 0;
  std::string first_problem_;
};

/// Places the files of all rows in a file of results whose header was read, until `stop`.
void sort_rows(Results& results, Sorting& sorting, const std::atomic<bool>& stop);

}  // namespace vit::tools
