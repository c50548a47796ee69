#include "tools/output/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "vit/base/atomic_file.h"
#include "vit/base/error.h"

namespace vit::tools {

namespace fs = std::filesystem;

bool is_at(int file, const fs::path& path) {
  struct stat ours {
  }, theirs{};
  return fstat(file, &ours) == 0 && stat(path.c_str(), &theirs) == 0 &&
         ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

OutputLock::OutputLock(const fs::path& output) : path_(output.string() + ".lock") {
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    fail_at(output.string(), "cannot write: there is no folder ", folder.string());
  if (fs::is_directory(output, ignored))
    fail_at(output.string(), "is a folder, expected a file name");
  while (true) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0) fail_at(output.string(), "cannot write: ", std::strerror(errno));
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(file_);
      if (error == EWOULDBLOCK)
        fail_at(output.string(), "another vit is writing this file; wait for it, or end it");
      fail_at(path_.string(), "cannot lock: ", std::strerror(error));
    }
    // Its last holder may have removed it between our two calls.
    if (is_at(file_, path_)) break;
    ::close(file_);
  }
  remove_abandoned(folder);
}

OutputLock::~OutputLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace vit::tools
