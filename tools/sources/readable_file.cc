#include "tools/sources/readable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "vit/base/error.h"

namespace vit::tools {

ReadableFile::ReadableFile(const std::filesystem::path& path)
    : path_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0)
    fail_at(path_, errno == ENOENT ? "no such file" : "cannot open: ",
            errno == ENOENT ? "" : std::strerror(errno));
  struct stat status {};
  if (fstat(file_, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

ReadableFile::~ReadableFile() {
  ::close(file_);
}

std::vector<std::byte> ReadableFile::read(std::uint64_t offset, std::size_t count) const {
  std::vector<std::byte> bytes(count);
  bytes.resize(read(offset, std::span(bytes)));
  return bytes;
}

std::size_t ReadableFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t had = 0;
  while (had < bytes.size()) {
    const ssize_t got =
        ::pread(file_, bytes.data() + had, bytes.size() - had, static_cast<off_t>(offset + had));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_at(path_, "cannot read: ", std::strerror(errno));
    if (got == 0) break;
    had += static_cast<std::size_t>(got);
  }
  return had;
}

}  // namespace vit::tools
