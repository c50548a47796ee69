#include "tools/sources/zip.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "vit/base/error.h"

namespace vit::tools {
namespace {

// Signatures and lengths from PKWARE's APPNOTE.
constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr std::size_t kLocalLength = 30, kCentralLength = 46, kEndLength = 22, kEnd64Length = 56;
constexpr std::size_t kLocatorLength = 20, kLongestComment = 0xffff;
constexpr std::uint32_t kIn64 = 0xffffffff;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::size_t kInput = 65536;

/// Little-endian numbers; bytes beyond the end read as zero.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t at, std::size_t count) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count && at + i < bytes_.size(); ++i)
      value |= std::uint64_t{std::to_integer<unsigned char>(bytes_[at + i])} << (8 * i);
    return value;
  }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::size_t at) const { return number(at, 8); }
  std::span<const std::byte> part(std::size_t at, std::size_t count) const {
    const std::size_t from = std::min(at, bytes_.size());
    return bytes_.subspan(from, std::min(count, bytes_.size() - from));
  }

 private:
  std::span<const std::byte> bytes_;
};

struct Directory {
  std::uint64_t offset = 0, size = 0;
  std::uint64_t before = 0;  ///< bytes before the archive, as in self-extracting ones
};

/// The record at the end, which a comment may follow.
struct End {
  std::uint64_t place = 0;
  std::vector<std::byte> bytes{};
};

End find_end(const ReadableFile& file) {
  const std::uint64_t length = std::min<std::uint64_t>(file.size(), kEndLength + kLongestComment);
  const std::uint64_t start = file.size() - length;
  const auto tail = file.read(start, static_cast<std::size_t>(length));
  for (std::size_t at = tail.size() - std::min(tail.size(), kEndLength - 1); at-- > 0;)
    if (Fields(tail).u32(at) == kEnd)
      return {start + at, {tail.begin() + static_cast<std::ptrdiff_t>(at), tail.end()}};
  const auto head = file.read(0, 4);
  const bool cut = Fields(head).u32(0) == kLocalHeader;
  fail_at(file.path(), cut ? "this zip archive is truncated" : "not a zip archive",
          ": it has no directory at its end");
}

Directory find_directory(const ReadableFile& file) {
  const End end = find_end(file);
  const Fields fields(end.bytes);
  if (fields.u16(4) != 0 && fields.u16(4) != 0xffff)
    fail_at(file.path(), "one part of a zip archive in several; join them: zip -s 0 FILE.zip ",
            "--out whole.zip");
  std::uint64_t behind = end.place;
  Directory found{fields.u32(16), fields.u32(12), 0};
  const auto locator = file.read(behind - std::min<std::uint64_t>(behind, kLocatorLength), 4);
  if (behind >= kLocatorLength + kEnd64Length && Fields(locator).u32(0) == kEnd64Locator) {
    behind -= kLocatorLength + kEnd64Length;  // its place, even with bytes before the archive
    const auto end64 = file.read(behind, kEnd64Length);
    if (Fields(end64).u32(0) != kEnd64)
      fail_at(file.path(), "damaged zip archive: its 64-bit end is not where it should be");
    found = {Fields(end64).u64(48), Fields(end64).u64(40), 0};
  }
  if (found.size > behind || found.offset > behind - found.size)
    fail_at(file.path(), "damaged zip archive: its directory is outside of the file");
  found.before = behind - found.size - found.offset;
  found.offset += found.before;
  return found;
}

/// Sizes that do not fit 32 bits are in an extra field, only those, in this order.
bool read_zip64(std::span<const std::byte> extra, ZipMember& member) {
  while (extra.size() >= 4) {
    const std::size_t length = Fields(extra).u16(2);
    if (length > extra.size() - 4) return true;  // some programs pad with anything
    auto field = extra.subspan(4, length);
    if (Fields(extra).u16(0) == kZip64Extra) {
      for (std::uint64_t* value : {&member.size, &member.packed, &member.header}) {
        if (*value != kIn64) continue;
        if (field.size() < 8) return false;
        *value = Fields(field).u64(0);
        field = field.subspan(8);
      }
    }
    extra = extra.subspan(4 + length);
  }
  return true;
}

std::string why_unreadable(std::uint16_t flags, std::uint16_t method) {
  constexpr std::uint16_t kStored = 0, kDeflated = 8;
  if ((flags & 1) != 0) return "is encrypted; unpack the archive with its password";
  if (method == kStored || method == kDeflated) return "";
  return "is packed by method " + std::to_string(method) +
         ", expected 0 (stored) or 8 (deflated); unpack the archive";
}

bool is_regular(const Fields& entry, const std::string& name) {
  constexpr std::uint32_t kUnix = 3, kKind = 0170000, kRegular = 0100000;
  if (name.empty() || name.ends_with('/')) return false;
  const std::uint32_t kind = (entry.u32(38) >> 16) & kKind;
  return entry.u16(4) >> 8 != kUnix || kind == 0 || kind == kRegular;
}

/// The directory, read in parts.
class Walk {
 public:
  Walk(const ReadableFile& file, const Directory& directory)
      : file_(file), directory_(directory), end_(directory.offset + directory.size) {}

  bool run(const std::function<bool(const ZipMember&)>& visit, const std::atomic<bool>& stop) {
    std::uint64_t at = directory_.offset;
    while (at < end_) {
      if (stop) return false;
      Fields entry(bytes(at, kCentralLength));
      if (entry.u32(0) != kCentralHeader)
        fail_at(file_.path(), "damaged zip archive: no directory entry at byte ", at);
      const std::size_t name = entry.u16(28), extra = entry.u16(30);
      const std::size_t length = kCentralLength + name + extra + entry.u16(32);
      entry = Fields(bytes(at, length));
      if (!take(entry, name, extra, visit)) return false;
      at += length;
    }
    return true;
  }

 private:
  std::span<const std::byte> bytes(std::uint64_t at, std::size_t count) {
    constexpr std::size_t kPart = std::size_t{1} << 20;
    if (at < start_ || at + count > start_ + part_.size()) {
      start_ = at;
      part_ = file_.read(
          at, static_cast<std::size_t>(std::min<std::uint64_t>(end_ - at, std::max(count, kPart))));
      if (part_.size() < count)
        fail_at(file_.path(), "damaged zip archive: its directory ends within an entry, at byte ",
                at);
    }
    return std::span(part_).subspan(static_cast<std::size_t>(at - start_), count);
  }

  bool take(const Fields& entry, std::size_t name, std::size_t extra,
            const std::function<bool(const ZipMember&)>& visit) {
    ZipMember member;
    const auto text = entry.part(kCentralLength, name);
    member.name.assign(reinterpret_cast<const char*>(text.data()), text.size());
    member.name.resize(std::min(member.name.size(), member.name.find('\0')));
    if (!is_regular(entry, member.name)) return true;
    member.checksum = entry.u32(16);
    member.packed = entry.u32(20);
    member.size = entry.u32(24);
    member.header = entry.u32(42);
    member.deflated = entry.u16(10) != 0;
    member.problem = why_unreadable(entry.u16(8), entry.u16(10));
    if (!read_zip64(entry.part(kCentralLength + name, extra), member))
      member.problem = "has a broken 64-bit size in the archive's directory";
    if (!member.deflated && member.problem.empty() && member.packed != member.size)
      member.problem = "has two sizes in the archive's directory";
    member.header += directory_.before;
    if (member.problem.empty()) check_sum(member);
    return visit(member);
  }

  /// Thousands of members that share their bytes would cost as much time as gigabytes.
  void check_sum(const ZipMember& member) {
    if (member.packed > file_.size() - packed_)
      fail_at(
          file_.path(), "damaged zip archive: '", member.name,
          "' and the members before it would take more bytes than the file has, so they overlap");
    packed_ += member.packed;
  }

  const ReadableFile& file_;
  const Directory& directory_;
  const std::uint64_t end_;
  std::uint64_t packed_ = 0;  ///< bytes of the members so far
  std::uint64_t start_ = 0;   ///< of `part_` in the file
  std::vector<std::byte> part_;
};

/// The content of one member.
class Content {
 public:
  Content(const ReadableFile& file, ZipMember member, std::string name)
      : file_(file), member_(std::move(member)), name_(std::move(name)) {
    const auto head = file_.read(member_.header, kLocalLength);
    const Fields local(head);
    if (head.size() < kLocalLength || local.u32(0) != kLocalHeader)
      fail_at(name_, "is not where the archive's directory says");
    start_ = member_.header + kLocalLength + local.u16(26) + local.u16(28);
    if (start_ > file_.size() || member_.packed > file_.size() - start_)
      fail_at(name_, "is cut short: it does not end within the archive");
    if (member_.deflated && inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Content() {
    if (member_.deflated) inflateEnd(&stream_);
  }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  std::size_t read(std::uint64_t at, std::span<std::byte> bytes) {
    if (at >= member_.size) return 0;
    bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), member_.size - at));
    if (at < made_) rewind();
    std::vector<std::byte> skipped(at > made_ ? kInput : 0);
    while (made_ < at)
      if (make(std::span(skipped).first(std::min<std::uint64_t>(kInput, at - made_))) == 0) break;
    return make(bytes);
  }

 private:
  void rewind() {
    made_ = from_ = 0;
    sum_ = 0;
    if (!member_.deflated) return;
    inflateReset(&stream_);
    stream_.avail_in = 0;
  }

  /// The next bytes, all of them.
  std::size_t make(std::span<std::byte> bytes) {
    const std::size_t made = member_.deflated ? inflate_into(bytes) : copy_into(bytes);
    if (made < bytes.size()) damaged();
    made_ += made;
    sum_ = crc32_z(sum_, reinterpret_cast<const Bytef*>(bytes.data()), made);
    if (made_ == member_.size && sum_ != member_.checksum)
      fail_at(name_, "does not match its checksum: the archive is damaged");
    return made;
  }

  std::size_t copy_into(std::span<std::byte> bytes) { return file_.read(start_ + made_, bytes); }

  std::size_t inflate_into(std::span<std::byte> bytes) {
    stream_.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_out = static_cast<uInt>(bytes.size());
    while (stream_.avail_out > 0) {
      if (stream_.avail_in == 0) refill();
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      if (status != Z_OK) break;
    }
    return bytes.size() - stream_.avail_out;
  }

  void refill() {
    input_.resize(kInput);
    const auto left = std::min<std::uint64_t>(kInput, member_.packed - from_);
    const std::size_t got =
        file_.read(start_ + from_, std::span(input_).first(static_cast<std::size_t>(left)));
    from_ += got;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
  }

  [[noreturn]] void damaged() const {
    fail_at(name_, "does not unpack to its ", member_.size, " bytes: the archive is damaged");
  }

  const ReadableFile& file_;
  const ZipMember member_;
  const std::string name_;
  z_stream stream_{};
  std::vector<std::byte> input_;
  std::uint64_t start_ = 0;  ///< of the packed bytes in the file
  std::uint64_t from_ = 0;   ///< packed bytes that were read
  std::uint64_t made_ = 0;   ///< bytes of the content that were given
  uLong sum_ = 0;
};

}  // namespace

bool visit_zip(const ReadableFile& file, const std::function<bool(const ZipMember&)>& visit,
               const std::atomic<bool>& stop) {
  const Directory directory = find_directory(file);
  return Walk(file, directory).run(visit, stop);
}

std::function<std::size_t(std::uint64_t, std::span<std::byte>)> zip_reader(
    const ReadableFile& file, const ZipMember& member, const std::string& name) {
  if (!member.problem.empty()) fail_at(name, member.problem);
  return [content = std::make_shared<Content>(file, member, name)](
             std::uint64_t at, std::span<std::byte> bytes) { return content->read(at, bytes); };
}

}  // namespace vit::tools
