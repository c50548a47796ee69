#include "vit/base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "vit/base/encoding.h"
#include "vit/base/error.h"

namespace vit {
namespace {

namespace fs = std::filesystem;

constexpr int kMostAttempts = 100;
constexpr int kMostLinks = 40;  // as the kernel allows
constexpr std::string_view kPrefix = ".vit-", kSuffix = ".tmp";
constexpr size_t kRandomDigits = 16;

[[noreturn]] void refuse(const fs::path& path, int error) {
  fail_at(path.string(), "cannot write: ", std::strerror(error));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Short whatever the target's name is: a name may have 255 bytes.
std::string random_name() {
  std::string bytes(kRandomDigits / 2, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    fail("the system gives no random numbers: ", std::strerror(errno));
  return std::string(kPrefix) + to_hex(bytes) + std::string(kSuffix);
}

bool is_random_name(const std::string& name) {
  return name.size() == kPrefix.size() + kRandomDigits + kSuffix.size() &&
         name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

/// A lock that lasts as long as the process shows which processes are alive. On a file system
/// without locks, removal cannot take the lock either, and nothing is removed.
bool lock(int file) {
  return ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

std::string descriptor_path(int file) {
  return "/proc/self/fd/" + std::to_string(file);
}

/// A file without a name. -1: the file system or the kernel does not support that.
int open_unnamed(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  if (::access(descriptor_path(file).c_str(), F_OK) == 0 && lock(file)) return file;
  ::close(file);
  return -1;
}

}  // namespace

fs::path follow_links(const fs::path& path) {
  fs::path at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat status {};
    if (lstat(at.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return at;
    if (status.st_uid != geteuid() && status.st_uid != 0)
      fail_at(path.string(), "is a symbolic link of another user; it is not followed");
    std::error_code error;
    const fs::path next = fs::read_symlink(at, error);
    if (error) refuse(path, error.value());
    at = at.parent_path() / next;
  }
  refuse(path, ELOOP);
}

AtomicFile::AtomicFile(const fs::path& path, Temporary temporary)
    : path_(path), target_(follow_links(path)) {
  std::error_code ignored;
  if (fs::is_directory(target_, ignored))
    fail_at(path.string(), "is a folder, expected a file name");
  if (fs::exists(target_, ignored) && !fs::is_regular_file(target_, ignored))
    fail_at(path.string(), "is not a regular file");
  // Moving over a file needs no permission on it, but its owner protected it.
  if (::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0 && errno != ENOENT)
    refuse(path_, errno);
  if (temporary == Temporary::kUnnamedWherePossible) file_ = open_unnamed(folder_of(target_));
  if (file_ < 0) open_named();
}

void AtomicFile::open_named() {
  for (int i = 0; i < kMostAttempts; ++i) {
    temporary_ = folder_of(target_) / random_name();
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0 && errno != EEXIST) refuse(path_, errno);
    if (file_ < 0) continue;
    // remove_abandoned() may have removed it between the two calls.
    struct stat status {};
    if (lock(file_) && ::fstat(file_, &status) == 0 && status.st_nlink == 1) return;
    ::close(file_);
    file_ = -1;
  }
  refuse(path_, EEXIST);
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  ::close(file_);
}

void AtomicFile::reserve(std::size_t bytes) {
  if (bytes == 0) return;
  const int error = posix_fallocate(file_, 0, static_cast<off_t>(bytes));
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    fail_at(path_.string(), "cannot write ", bytes, " bytes: ", std::strerror(error));
  // Other errors mean that the file system cannot reserve space; writing reports a full disk.
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) refuse(path_, errno);
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::keep_permissions() const {
  struct stat before {};
  if (::stat(target_.c_str(), &before) != 0) return;
  // Only root may give files away; everybody else keeps what is written here.
  const bool same_owner = ::fchown(file_, before.st_uid, before.st_gid) == 0;
  constexpr mode_t kAccess = 0777, kWithoutGroup = 0707;
  ::fchmod(file_, before.st_mode & (same_owner ? kAccess : kWithoutGroup));
}

bool AtomicFile::link_as(const fs::path& name) const {
  if (::linkat(AT_FDCWD, descriptor_path(file_).c_str(), AT_FDCWD, name.c_str(),
               AT_SYMLINK_FOLLOW) == 0)
    return true;
  if (errno != EEXIST) refuse(path_, errno);
  return false;
}

void AtomicFile::put_in_place() {
  if (temporary_.empty()) {
    if (link_as(target_)) return;
    for (int i = 0; i < kMostAttempts && temporary_.empty(); ++i) {
      const fs::path name = folder_of(target_) / random_name();
      if (link_as(name)) temporary_ = name;
    }
    if (temporary_.empty()) refuse(path_, EEXIST);
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) refuse(path_, errno);
}

void AtomicFile::commit(Sync sync) {
  keep_permissions();
  if (sync == Sync::kYes && ::fsync(file_) != 0) refuse(path_, errno);
  put_in_place();
  ::close(file_);
  file_ = -1;
  if (sync == Sync::kYes) sync_folder_of(target_);
}

void sync_folder_of(const fs::path& file) {
  const int opened = ::open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;  // the file is there; only its name may not survive a power failure
  ::fsync(opened);
  ::close(opened);
}

void write_atomically(const fs::path& path, std::span<const std::byte> bytes,
                      AtomicFile::Sync sync) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit(sync);
}

void remove_abandoned(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    if (!is_random_name(entry->path().filename().string())) continue;
    const fs::path& path = entry->path();
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    struct stat status {};
    const bool ours = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                      status.st_uid == geteuid() && ::flock(file, LOCK_EX | LOCK_NB) == 0;
    if (ours) ::unlink(path.c_str());
    ::close(file);
  }
}

}  // namespace vit
