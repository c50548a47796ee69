#include "tools/sources/tar.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "vit/base/error.h"
#include "vit/base/round.h"
#include "vit/base/text.h"

namespace vit::tools {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kLongestHeader = std::uint64_t{1} << 20;  // of names and pax records

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 62;

std::uint64_t padded(std::uint64_t size) {
  return round_up(size, kBlock);
}

/// A header block, by the offsets of POSIX ustar.
class Block {
 public:
  explicit Block(const std::vector<std::byte>& bytes)
      : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  bool zero() const { return text_.find_first_not_of('\0') == text_.npos; }
  char type() const { return text_[156]; }

  std::string_view field(std::size_t at, std::size_t length) const {
    const auto whole = text_.substr(at, length);
    return whole.substr(0, whole.find('\0'));
  }

  /// Octal digits, or big-endian with the highest bit set (GNU, for more than 8 GB). None for what
  /// is neither, negative or longer than 64 bits.
  std::optional<std::uint64_t> number(std::size_t at, std::size_t length) const {
    std::uint64_t value = 0;
    if ((text_[at] & '\x80') != 0) {
      const std::size_t low = at + length - 8;
      for (std::size_t i = at; i < at + length; ++i) {
        const auto byte = static_cast<unsigned char>(text_[i]);
        if (i < low && byte != (i == at ? 0x80 : 0)) return std::nullopt;
        value = value << 8 | (i == at ? byte & 0x7fu : byte);
      }
      return value;
    }
    bool digits = false;
    for (const char c : field(at, length)) {
      if (c == ' ' && !digits) continue;
      if (c == ' ') break;
      if (c < '0' || c > '7') return std::nullopt;
      value = value * 8 + static_cast<std::uint64_t>(c - '0');
      digits = true;
    }
    return value;
  }

  /// The sum of all bytes, those of the checksum itself taken as blanks.
  bool checksum_right() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(text_[i]);
    return number(148, 8) == sum;
  }

  std::string name() const {
    const std::string own(field(0, 100));
    const bool posix = text_.substr(257, 6) == std::string_view("ustar\0", 6);
    const std::string prefix(posix ? field(345, 155) : "");
    return prefix.empty() ? own : prefix + "/" + own;
  }

 private:
  std::string_view text_;
};

/// Properties of the next member from a header of kind L or x.
struct Overrides {
  std::optional<std::string> name;
  std::optional<std::uint64_t> size;
};

/// Records "LENGTH KEY=VALUE\n", each as long as it says. False if one is not.
bool read_pax(std::string_view records, Overrides& overrides) {
  while (!records.empty()) {
    const std::size_t blank = records.substr(0, 20).find(' ');
    const auto length =
        to_number<std::uint64_t>(records.substr(0, blank == records.npos ? 0 : blank));
    if (!length || *length > records.size() || *length < blank + 2) return false;
    const std::string_view record = records.substr(blank + 1, *length - blank - 1);
    const std::size_t equals = record.find('=');
    if (equals == record.npos || !record.ends_with('\n')) return false;
    const auto key = record.substr(0, equals);
    const auto value = record.substr(equals + 1, record.size() - equals - 2);
    if (key == "path") overrides.name = std::string(value);
    if (key == "size" && !(overrides.size = to_number<std::uint64_t>(value))) return false;
    records.remove_prefix(*length);
  }
  return true;
}

class Walk {
 public:
  Walk(const TarBytes& bytes, const std::function<bool(const TarMember&)>& visit)
      : file_(bytes), visit_(visit) {}

  bool run(const std::atomic<bool>& stop) {
    while (!stop) {
      const auto bytes = read(at_, kBlock);
      if (stop) return false;
      // Some writers leave out the two blocks of zeros at the end.
      if (bytes.empty() && at_ != 0 && is_there(at_ - 1)) return true;
      if (bytes.size() < kBlock) cut_short();
      const Block block(bytes);
      if (block.zero() && at_ != 0) return true;
      if (!block.checksum_right())
        fail_at(file_.path, at_ == 0 ? "not a tar archive" : "damaged tar archive",
                ": no member header at byte ", at_);
      if (!take(block)) return false;
    }
    return false;
  }

 private:
  std::vector<std::byte> read(std::uint64_t offset, std::size_t count) const {
    std::vector<std::byte> bytes(count);
    bytes.resize(file_.read(offset, bytes));
    return bytes;
  }

  /// Of compressed archives the size is unknown: the last member may end beyond it.
  bool is_there(std::uint64_t offset) const {
    if (file_.size != std::numeric_limits<std::uint64_t>::max()) return true;
    return !read(std::min(offset, end_of_last_ - 1), 1).empty();
  }

  bool take(const Block& block) {
    const auto size = block.number(124, 12);
    if (!size) fail_at(file_.path, "damaged tar archive: no size in the header at byte ", at_);
    const std::uint64_t start = at_ + kBlock;
    const char type = block.type();
    if (type == 'L' || type == 'x' || type == 'g' || type == 'K') {
      read_extension(type, start, *size);
      move_behind(start, *size);
      return true;
    }
    TarMember member{overrides_.name.value_or(block.name()), start,
                     overrides_.size.value_or(*size)};
    overrides_ = {};
    const bool regular = type == '0' || type == '\0' || type == '7';
    const bool has_content = regular || (type != '1' && type != '2' && type != '5');
    move_behind(start, has_content ? member.size : 0);
    if (!regular || member.name.ends_with('/')) return true;
    return visit_(member);
  }

  /// Only within the file: a size near 2^64 would wrap around, padded or not.
  void move_behind(std::uint64_t start, std::uint64_t size) {
    const std::uint64_t most = std::min(file_.size, kLargestFile);
    if (start > most || size > most - start) cut_short();
    end_of_last_ = start + size;
    at_ = start + padded(size);
  }

  void read_extension(char type, std::uint64_t start, std::uint64_t size) {
    if (size > kLongestHeader)
      fail_at(file_.path, "damaged tar archive: a header of ", size, " bytes at byte ", at_);
    const auto bytes = read(start, static_cast<std::size_t>(size));
    if (bytes.size() < size) cut_short();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (type == 'L') overrides_.name = std::string(text.substr(0, text.find('\0')));
    if (type == 'x' && !read_pax(text, overrides_))
      fail_at(file_.path, "damaged tar archive: a pax header that cannot be read at byte ", at_);
  }

  [[noreturn]] void cut_short() const {
    fail_at(file_.path, "this tar archive is truncated: no whole member at byte ", at_);
  }

  const TarBytes& file_;
  const std::function<bool(const TarMember&)>& visit_;
  std::uint64_t at_ = 0, end_of_last_ = 0;
  Overrides overrides_;
};

}  // namespace

bool visit_tar(const TarBytes& bytes, const std::function<bool(const TarMember&)>& visit,
               const std::atomic<bool>& stop) {
  return Walk(bytes, visit).run(stop);
}

bool visit_tar(const ReadableFile& file, const std::function<bool(const TarMember&)>& visit,
               const std::atomic<bool>& stop) {
  const auto read = [&file](std::uint64_t offset, std::span<std::byte> bytes) {
    return file.read(offset, bytes);
  };
  return visit_tar({file.path(), file.size(), read}, visit, stop);
}

}  // namespace vit::tools
