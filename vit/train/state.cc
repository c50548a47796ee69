#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <type_traits>

#include "vit/base/atomic_file.h"
#include "vit/base/error.h"
#include "vit/base/hash.h"
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

void write_synced(const fs::path& path, const std::vector<char>& bytes) {
  try {
    write_atomically(path, std::as_bytes(std::span(bytes)));
  } catch (const Error& error) {
    fail(error.what(), "; the checkpoint before it is kept");
  }
}

}  // namespace

void save_state(const fs::path& path, const State& state) {
  Writer writer;
  writer.put(kMagic);
  visit([&](const auto& field) { writer.put(field); }, state);
  writer.put(checksum(writer.bytes().data(), writer.bytes().size()));
  write_synced(path, writer.bytes());
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
