#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>

#include "vit/base/error.h"
#include "vit/train/hash.h"
#include "vit/train/trainer.h"

namespace vit::train {
namespace {

namespace fs = std::filesystem;

// The last character counts the versions of the format.
constexpr std::array<char, 8> kMagic{'v', 'i', 't', 't', 'r', 'a', 'n', '2'};

std::uint64_t checksum(const char* bytes, size_t count) {
  Hash hash;
  hash.add({bytes, count});
  return hash.value();
}

class Writer {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const char* bytes = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    const char* bytes = reinterpret_cast<const char*>(values.data());
    bytes_.insert(bytes_.end(), bytes, bytes + values.size() * sizeof(T));
  }
  std::vector<char>& bytes() { return bytes_; }

 private:
  std::vector<char> bytes_;
};

class Reader {
 public:
  Reader(std::string path, std::vector<char> bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}

  template <typename T>
  void get(T& value) {
    need(sizeof value);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
  }
  template <typename T>
  void get(std::vector<T>& values) {
    std::uint64_t count = 0;
    get(count);
    need(count > bytes_.size() ? bytes_.size() + 1 : count * sizeof(T));  // no overflow
    values.resize(count);
    if (count == 0) return;  // there may be no memory to copy to
    std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }
  void expect_end() const {
    if (at_ != bytes_.size())
      fail(path_, ": damaged, ", bytes_.size() - at_, " bytes follow its last field");
  }

 private:
  void need(size_t count) const {
    if (count > bytes_.size() - at_) fail(path_, ": damaged, it ends too early");
  }

  std::string path_;
  std::vector<char> bytes_;
  size_t at_ = 0;
};

template <typename Archive, typename S>
void visit(Archive&& each, S& s) {
  each(s.fingerprint);
  each(s.epoch);
  each(s.step);
  each(s.sum);
  each(s.seen);
  each(s.seconds);
  each(s.history);
  each(s.first_compared);
  each(s.numbers);
  each(s.average);
  each(s.moments.first);
  each(s.moments.second);
  each(s.moments.steps);
}

[[noreturn]] void fail_writing(const fs::path& path) {
  const int reason = errno;
  std::error_code ignored;
  fs::remove(path, ignored);
  fail(path.string(), ": cannot be written: ", std::strerror(reason),
       "; the checkpoint before it is kept");
}

void write_synced(const fs::path& path, const std::vector<char>& bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail_writing(path);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      close(file);
      fail_writing(path);
    }
    done += static_cast<size_t>(count);
  }
  const bool synced = fsync(file) == 0;
  if (close(file) != 0 || !synced) fail_writing(path);
}

}  // namespace

void save_state(const fs::path& path, const State& state) {
  Writer writer;
  writer.put(kMagic);
  visit([&](const auto& field) { writer.put(field); }, state);
  writer.put(checksum(writer.bytes().data(), writer.bytes().size()));
  const fs::path beside = path.string() + ".tmp";
  write_synced(beside, writer.bytes());
  fs::rename(beside, path);
}

State load_state(const fs::path& path, std::uint64_t fingerprint) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path.string(), ": cannot be opened");
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::uint64_t stored = 0;
  if (bytes.size() < kMagic.size() + sizeof stored ||
      !std::equal(kMagic.begin(), kMagic.end(), bytes.begin()))
    fail(path.string(), ": is no training checkpoint of this version");
  const size_t body = bytes.size() - sizeof stored;
  std::memcpy(&stored, bytes.data() + body, sizeof stored);
  if (stored != checksum(bytes.data(), body))
    fail(path.string(), ": damaged, its checksum differs");
  bytes.resize(body);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(kMagic.size()));

  State state(0);
  Reader reader(path.string(), std::move(bytes));
  visit([&](auto& field) { reader.get(field); }, state);
  reader.expect_end();
  if (state.fingerprint != fingerprint)
    fail(path.string(), ": belongs to a run with other data, model or settings");
  return state;
}

}  // namespace vit::train
