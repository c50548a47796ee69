#include "tools/pull/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSha256Digits = 64, kSha1Digits = 40;

bool is_hash(const std::string& etag, size_t digits) {
  return etag.size() == digits &&
         std::ranges::all_of(etag, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

[[noreturn]] void refuse(const fs::path& path, int error) {
  fail(path.string(), ": cannot write: ", std::strerror(error));
}

}  // namespace

PartFile::PartFile(const fs::path& path, const RemoteFile& remote)
    : path_(path), part_(path), note_(path), remote_(remote) {
  part_ += ".part";
  note_ += ".part.etag";
  file_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) refuse(part_, errno);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    fail(part_.string(), ": another program is fetching it");
  }
  take_up();
}

PartFile::~PartFile() {
  if (size_ == 0 && !finished_) discard();
  ::close(file_);
}

void PartFile::start_digest() {
  digest_.reset();
  if (is_hash(remote_.etag, kSha256Digits)) digest_ = Digest::sha256();
  if (is_hash(remote_.etag, kSha1Digits) && remote_.size) digest_ = Digest::git_blob(*remote_.size);
}

void PartFile::take_up() {
  const auto present = static_cast<std::uintmax_t>(::lseek(file_, 0, SEEK_END));
  const bool same = !remote_.etag.empty() && read_text(note_) == remote_.etag;
  if (!same || (remote_.size && present > *remote_.size)) return restart();

  start_digest();
  ::lseek(file_, 0, SEEK_SET);
  std::vector<std::byte> buffer(1 << 20);
  while (size_ < present) {
    const ssize_t count = ::read(file_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse(part_, count < 0 ? errno : EIO);
    if (digest_) digest_->add(std::span(buffer).first(static_cast<size_t>(count)));
    size_ += static_cast<std::uintmax_t>(count);
  }
}

void PartFile::restart() {
  if (::ftruncate(file_, 0) != 0) refuse(part_, errno);
  ::lseek(file_, 0, SEEK_SET);
  size_ = 0;
  start_digest();
  std::ofstream note(note_);
  if (!(note << remote_.etag).flush()) refuse(note_, errno);
}

void PartFile::add(std::span<const std::byte> bytes) {
  if (remote_.size && size_ + bytes.size() > *remote_.size) {
    discard();
    fail(remote_.name, ": the server sends more than the ", *remote_.size,
         " bytes that the hub promised; the bad file was removed");
  }
  if (digest_) digest_->add(bytes);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(part_, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
    size_ += static_cast<std::uintmax_t>(written);
  }
}

void PartFile::discard() {
  ::unlink(part_.c_str());
  ::unlink(note_.c_str());
}

void PartFile::finish() {
  if (remote_.size && size_ != *remote_.size) {
    discard();
    fail(remote_.name, ": is ", size_, " bytes, the hub promised ", *remote_.size,
         "; the bad file was removed, try again");
  }
  const std::string hash = digest_ ? digest_->finish() : "";
  if (digest_ && hash != remote_.etag) {
    discard();
    fail(remote_.name, ": its ", hash.size() == kSha256Digits ? "sha256" : "git sha1", " is ", hash,
         ", the hub promised ", remote_.etag, "; the bad file was removed, try again");
  }
  if (::fsync(file_) != 0) refuse(part_, errno);
  if (::rename(part_.c_str(), path_.c_str()) != 0) refuse(path_, errno);
  ::unlink(note_.c_str());
  finished_ = true;
}

}  // namespace vit::tools
