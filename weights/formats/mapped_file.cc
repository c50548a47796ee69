#include "weights/formats/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "vit/base/error.h"

namespace vit::weights {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail_at(path.string(), "cannot open: ", std::strerror(errno));
  const Descriptor file{fd};

  struct stat status {};
  if (::fstat(file.fd, &status) != 0) fail_at(path.string(), std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail_at(path.string(), "is a folder, expected a file");
  if (!S_ISREG(status.st_mode)) fail_at(path.string(), "is not a regular file");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;

  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (mapped == MAP_FAILED) fail_at(path.string(), "cannot map: ", std::strerror(errno));
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::shared_ptr<const MappedFile> map_file(const std::filesystem::path& path) {
  return std::make_shared<const MappedFile>(path);
}

}  // namespace vit::weights
