/// Lets only one program write an output.
#pragma once

#include <filesystem>

namespace vit::tools {

/// Whether the open file is the one that has this name now.
bool is_at(int file, const std::filesystem::path& path);

/// Holds "OUT.lock" during its lifetime. The kernel releases the lock when the program ends, so
/// that a remaining file does not lock. Also removes temporary files of killed runs.
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
