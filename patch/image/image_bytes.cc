#include "patch/image/image_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "patch/image/image_header.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

constexpr size_t kChunk = size_t{1} << 16;

/// Reads up to `count` bytes behind those that are there. False: the file has ended.
bool read_more(int file, const std::string& name, size_t count, std::vector<std::byte>& bytes) {
  const size_t had = bytes.size();
  bytes.resize(had + count);
  ssize_t got = 0;
  do got = ::read(file, &bytes[had], count);
  while (got < 0 && errno == EINTR);
  if (got < 0) fail(name, ": cannot read: ", std::strerror(errno));
  bytes.resize(had + static_cast<size_t>(got));
  return got > 0;
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ >= 0) return;
    if (errno == ENOENT || errno == ENOTDIR) fail(path, ": no such file");
    fail(path, ": cannot open: ", std::strerror(errno));
  }
  ~OpenFile() { ::close(number_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::vector<std::byte> read_image_bytes(int file, const std::string& name) {
  struct stat status {};
  if (::fstat(file, &status) != 0) fail(name, ": cannot read: ", std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail(name, ": is a folder, expected an image file");
  const size_t size = S_ISREG(status.st_mode) ? static_cast<size_t>(status.st_size) : 0;
  if (size > kMaxFileBytes)
    fail(name, ": the file is too large: ", size, " bytes; at most ", kMaxFileBytes, " are read");
  std::vector<std::byte> bytes;
  constexpr size_t kEnoughToTell = 64;  // also what describe_unknown looks at
  while (bytes.size() < kEnoughToTell)
    if (!read_more(file, name, kChunk, bytes)) break;
  if (bytes.empty()) fail(name, ": the file is empty");
  check_format(bytes, name);
  if (size > bytes.size()) bytes.reserve(size + 1);  // the last read finds the end
  while (bytes.size() <= kMaxFileBytes) {
    const size_t spare = bytes.capacity() - bytes.size();
    if (!read_more(file, name, spare != 0 ? spare : kChunk, bytes)) return bytes;
  }
  fail(name, ": the file is too large: at most ", kMaxFileBytes, " bytes are read");
}

std::vector<std::byte> read_image_bytes(const std::filesystem::path& path) {
  const OpenFile file(path.string());
  return read_image_bytes(file.number(), path.string());
}

}  // namespace vit::patch
