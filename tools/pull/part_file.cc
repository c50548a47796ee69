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

#include "tools/output/file.h"
#include "tools/output/lock.h"
#include "vit/base/atomic_file.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSha256Digits = 64, kSha1Digits = 40;

bool is_hash(const std::string& etag, size_t digits) {
  return etag.size() == digits &&
         std::ranges::all_of(etag, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Configurations and lists of shards: some kilobytes each.
constexpr std::uintmax_t kLargestText = 16 << 20;

std::optional<std::uintmax_t> limit_of(const std::string& name) {
  if (name.ends_with(".json")) return kLargestText;
  return {};
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

[[noreturn]] void refuse(const fs::path& path, int error) {
  fail_at(path.string(), "cannot write: ", std::strerror(error));
}

}  // namespace

PartFile::PartFile(const fs::path& path, const RemoteFile& remote)
    : path_(path), part_(path), note_(path), remote_(remote), limit_(limit_of(remote.name)) {
  remote_.etag = lower(remote_.etag);
  if (remote_.size) check_limit(*remote_.size);
  part_ += ".part";
  note_ += ".part.etag";
  open_locked();
  take_up();
}

void PartFile::open_locked() {
  while (true) {
    file_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0) refuse(part_, errno);
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(file_);
      if (error == EWOULDBLOCK) fail_at(part_.string(), "another program is fetching it");
      fail_at(part_.string(), "cannot lock: ", std::strerror(error));
    }
    // Its last holder may have finished it, and given it its name, between our two calls.
    if (is_at(file_, part_)) return;
    ::close(file_);
  }
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

void PartFile::check_limit(std::uintmax_t size) const {
  if (limit_ && size > *limit_)
    fail_at(remote_.name, "is larger than ", *limit_ >> 20, " MB, which no such file is");
}

void PartFile::expect(std::uintmax_t size) {
  check_limit(size);
  remote_.size = size;
}

void PartFile::take_up() {
  const auto present = static_cast<std::uintmax_t>(::lseek(file_, 0, SEEK_END));
  const bool same = !remote_.etag.empty() && read_text(note_) == remote_.etag;
  if (!same || (remote_.size && present > *remote_.size)) return restart();

  start_digest();
  read_into_digest(present);
  size_ = present;
}

void PartFile::read_into_digest(std::uintmax_t bytes) {
  ::lseek(file_, 0, SEEK_SET);
  std::vector<std::byte> buffer(1 << 20);
  for (std::uintmax_t done = 0; done < bytes;) {
    const ssize_t count = ::read(file_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse(part_, count < 0 ? errno : EIO);
    if (digest_) digest_->add(std::span(buffer).first(static_cast<size_t>(count)));
    done += static_cast<std::uintmax_t>(count);
  }
}

void PartFile::restart() {
  if (::ftruncate(file_, 0) != 0) refuse(part_, errno);
  ::lseek(file_, 0, SEEK_SET);
  size_ = 0;
  start_digest();
  write_file(note_, remote_.etag);
}

void PartFile::add(std::span<const std::byte> bytes) {
  if (remote_.size && size_ + bytes.size() > *remote_.size) {
    discard();
    fail_at(remote_.name, "the server sends more than the ", *remote_.size,
            " bytes that the hub stated; the bad file was removed");
  }
  if (limit_ && size_ + bytes.size() > *limit_) {
    discard();
    check_limit(size_ + bytes.size());
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

std::string PartFile::finish() {
  if (remote_.size && size_ != *remote_.size) {
    discard();
    fail_at(remote_.name, "is ", size_, " bytes, the hub stated ", *remote_.size,
            "; the bad file was removed, try again");
  }
  if (!digest_ && is_hash(remote_.etag, kSha1Digits)) {  // it begins with the size
    digest_ = Digest::git_blob(size_);
    read_into_digest(size_);
  }
  const std::string hash = digest_ ? digest_->finish() : "";
  const std::string kind = !digest_ ? "" : hash.size() == kSha256Digits ? "sha256" : "git sha1";
  if (digest_ && hash != remote_.etag) {
    discard();
    fail_at(remote_.name, "its ", kind, " is ", hash, ", the hub stated ", remote_.etag,
            "; the bad file was removed, try again");
  }
  if (::fsync(file_) != 0) refuse(part_, errno);
  if (::rename(part_.c_str(), path_.c_str()) != 0) refuse(path_, errno);
  sync_folder_of(path_);
  ::unlink(note_.c_str());
  finished_ = true;
  return kind;
}

}  // namespace vit::tools
