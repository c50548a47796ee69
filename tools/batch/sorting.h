/// Files put into folders by the class that the model sees in them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/batch/row.h"

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
  void place(Row& row) const;

 private:
  SortBy by_;
  std::filesystem::path folder_;
  std::vector<std::string> class_folders_;
};

}  // namespace vit::tools
