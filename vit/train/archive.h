/// Files of plain values with a mark of their kind in front and a checksum at the end: checkpoints
/// and stored answers of a teacher. The checksum is no protection against forgery: the sizes in a
/// file are the file's, and its reader checks them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "vit/base/error.h"

namespace vit::train {

using std::size_t;

/// The last character counts the versions of the format.
using Magic = std::array<char, 8>;

class ArchiveWriter {
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
  void append(const ArchiveWriter& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
  }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
};

class ArchiveReader {
 public:
  ArchiveReader(std::string path, std::vector<char> bytes)
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
      fail_at(path_, "damaged, ", bytes_.size() - at_, " bytes follow its last field");
  }

 private:
  void need(size_t count) const {
    if (count > bytes_.size() - at_) fail_at(path_, "damaged, it ends too early");
  }

  std::string path_;
  std::vector<char> bytes_;
  size_t at_ = 0;
};

/// Written beside its place, synced and renamed.
void write_archive(const std::filesystem::path& path, const Magic& magic,
                   const ArchiveWriter& archive);
/// Throws an Error if the file cannot be read or is damaged; `what`: "is not a `what` of this
/// version".
ArchiveReader read_archive(const std::filesystem::path& path, const Magic& magic,
                           const std::string& what);

}  // namespace vit::train
