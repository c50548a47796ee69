#include "weights/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "vit/base/error.h"

namespace vit::weights {
namespace {

namespace fs = std::filesystem;

constexpr int kMostAttempts = 100;

[[noreturn]] void refuse(const fs::path& path, int error) {
  fail(path.string(), ": cannot write: ", std::strerror(error));
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail(path.string(), ": is a folder, expected a file name");
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    fail(path.string(), ": is not a regular file");
  // A name of our own: two programs that write the same file do not meet in it.
  for (int i = 0; i < kMostAttempts && file_ < 0; ++i) {
    temporary_ = path_;
    temporary_ += "." + std::to_string(getpid()) + "-" + std::to_string(i) + ".tmp";
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0 && errno != EEXIST) refuse(path_, errno);
  }
  if (file_ < 0) refuse(path_, EEXIST);
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::reserve(std::size_t bytes) {
  if (bytes == 0) return;
  const int error = posix_fallocate(file_, 0, static_cast<off_t>(bytes));
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    fail(path_.string(), ": cannot write ", bytes, " bytes: ", std::strerror(error));
  // Other errors say that the file system cannot reserve; writing will tell.
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) refuse(path_, errno);
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0) refuse(path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(path_, errno);
  ::close(file_);
  file_ = -1;
  // Syncing the folder makes the new name last; where it cannot be opened, the file is there.
  const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

}  // namespace vit::weights
