/// One program at a time on one output.
#pragma once

#include <filesystem>

namespace vit::tools {

/// Whether the open file is the one that has this name now.
bool is_at(int file, const std::filesystem::path& path);

/// Holds "OUT.lock" for as long as it lives. The kernel releases it whatever ends the program, so a
/// file that is left behind locks nobody out. Also removes temporary files of killed runs.
class OutputLock {
 public:
  /// Throws an Error if another program holds it, or if there is no such folder.
  explicit OutputLock(const std::filesystem::path& output);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace vit::tools
