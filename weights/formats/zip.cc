#include "weights/formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "vit/base/error.h"
#include "weights/formats/tensor_file.h"
#include "weights/numbers.h"

namespace vit::weights {
namespace {

using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using Bytes = std::span<const std::byte>;

// Signatures and lengths from PKWARE's APPNOTE.
constexpr uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr size_t kLocalLength = 30, kCentralLength = 46, kEndLength = 22, kEnd64Length = 56;
constexpr size_t kLocatorLength = 20, kLongestComment = 0xffff;
constexpr uint16_t kStored = 0, kDeflated = 8, kZip64Extra = 1;
constexpr uint32_t kIn64 = 0xffffffff;

// Weights hardly shrink when deflated. What grows far beyond its file is meant to fill memory.
constexpr uint64_t kAlwaysAllowed = 32 << 20;
constexpr uint64_t kLargestGrowth = 20;

/// A field at a place that the caller has checked to lie inside.
template <typename T>
T at(Bytes bytes, size_t offset) {
  return load<T>(bytes.data() + offset);
}

struct Directory {
  uint64_t offset;
  uint64_t size;
  uint64_t count;
};

size_t find_end(const std::string& where, Bytes bytes) {
  if (bytes.size() >= kEndLength) {
    const size_t last = bytes.size() - kEndLength;
    const size_t first = last - std::min(last, kLongestComment);
    for (size_t offset = last + 1; offset-- > first;)
      if (at<uint32_t>(bytes, offset) == kEnd) return offset;
  }
  fail_at(where, "cut short: the ZIP archive has no end");
}

Directory find_directory(const std::string& where, Bytes bytes) {
  const size_t end = find_end(where, bytes);
  Directory result{at<uint32_t>(bytes, end + 16), at<uint32_t>(bytes, end + 12),
                   at<uint16_t>(bytes, end + 10)};
  if (end >= kLocatorLength && at<uint32_t>(bytes, end - kLocatorLength) == kEnd64Locator) {
    const auto end64 = at<uint64_t>(bytes, end - kLocatorLength + 8);
    if (end64 > bytes.size() || bytes.size() - end64 < kEnd64Length ||
        at<uint32_t>(bytes, end64) != kEnd64)
      fail_at(where, "the ZIP archive's 64-bit end is not where it should be");
    result = {at<uint64_t>(bytes, end64 + 48), at<uint64_t>(bytes, end64 + 40),
              at<uint64_t>(bytes, end64 + 32)};
  }
  if (result.offset > bytes.size() || result.size > bytes.size() - result.offset)
    fail_at(where, "the ZIP archive's directory lies outside the file");
  if (result.count > kMostTensors)
    fail_at(where, "the ZIP archive has ", result.count, " entries, at most ", kMostTensors);
  return result;
}

/// Sizes that do not fit 32 bits are in an extra field, only those, in this order.
bool read_zip64(Bytes extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    const size_t length = at<uint16_t>(extra, 2);
    if (length > extra.size() - 4) return false;
    Bytes field = extra.subspan(4, length);
    if (at<uint16_t>(extra, 0) == kZip64Extra) {
      for (uint64_t* value : {&entry.size, &entry.packed, &entry.header}) {
        if (*value != kIn64) continue;
        if (field.size() < 8) return false;
        *value = at<uint64_t>(field, 0);
        field = field.subspan(8);
      }
    }
    extra = extra.subspan(4 + length);
  }
  return true;
}

/// One entry of the directory; the rest of `directory` stays.
ZipEntry read_central(const std::string& where, Bytes& directory) {
  if (directory.size() < kCentralLength || at<uint32_t>(directory, 0) != kCentralHeader)
    fail_at(where, "the ZIP archive's directory is broken");
  const size_t name = at<uint16_t>(directory, 28), extra = at<uint16_t>(directory, 30);
  const size_t length = kCentralLength + name + extra + at<uint16_t>(directory, 32);
  if (length > directory.size()) fail_at(where, "the ZIP archive's directory is cut short");

  ZipEntry entry;
  entry.name = {reinterpret_cast<const char*>(directory.data()) + kCentralLength, name};
  entry.checksum = at<uint32_t>(directory, 16);
  entry.packed = at<uint32_t>(directory, 20);
  entry.size = at<uint32_t>(directory, 24);
  entry.header = at<uint32_t>(directory, 42);
  const auto flags = at<uint16_t>(directory, 8), method = at<uint16_t>(directory, 10);
  if ((flags & 1) != 0) fail_at(where, "entry '", entry.name, "' is encrypted");
  if (method != kStored && method != kDeflated)
    fail_at(where, "entry '", entry.name, "' is packed by method ", method,
            ", expected 0 (stored) or 8 (deflated)");
  entry.deflated = method == kDeflated;
  if (!read_zip64(directory.subspan(kCentralLength + name, extra), entry))
    fail_at(where, "entry '", entry.name, "' has a broken 64-bit size");
  directory = directory.subspan(length);
  return entry;
}

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
};

/// In steps, since zlib counts in 32 bits. False unless the stream ends just when `out` is full.
bool inflate_into(Bytes in, std::span<std::byte> out) {
  constexpr size_t kStep = 1 << 30;
  Inflater inflater;
  z_stream& z = inflater.stream;
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t give = std::min(in.size(), kStep), room = std::min(out.size(), kStep);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    z.avail_in = static_cast<uInt>(give);
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(room);
    status = inflate(&z, Z_NO_FLUSH);
    in = in.subspan(give - z.avail_in);
    out = out.subspan(room - z.avail_out);
  }
  return status == Z_STREAM_END && out.empty();
}

}  // namespace

bool looks_like_zip(Bytes bytes) {
  return bytes.size() >= 4 &&
         (at<uint32_t>(bytes, 0) == kLocalHeader || at<uint32_t>(bytes, 0) == kEnd);
}

ZipArchive::ZipArchive(const std::filesystem::path& path)
    : path_(path.string()), file_(map_file(path)), storage_{file_} {
  const Bytes bytes = file_->bytes();
  const Directory directory = find_directory(path_, bytes);
  Bytes rest = bytes.subspan(directory.offset, directory.size);
  uint64_t inflated = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    ZipEntry entry = read_central(path_, rest);
    const uint64_t allowed = std::max<uint64_t>(kAlwaysAllowed, kLargestGrowth * bytes.size());
    if (entry.deflated && (entry.size > allowed || (inflated += entry.size) > allowed))
      fail_at(path_, "entry '", entry.name, "' would inflate the archive of ", bytes.size(),
              " bytes beyond ", allowed, " bytes, far more than weights do");
    index_.emplace(entry.name, entries_.size());
    entries_.push_back(std::move(entry));
  }
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

Bytes ZipArchive::packed_bytes(const ZipEntry& entry) const {
  const Bytes bytes = file_->bytes();
  if (entry.header > bytes.size() || bytes.size() - entry.header < kLocalLength ||
      at<uint32_t>(bytes, entry.header) != kLocalHeader)
    fail_at(path_, "entry '", entry.name, "' is not where the directory says");
  const uint64_t begin = entry.header + kLocalLength + at<uint16_t>(bytes, entry.header + 26) +
                         at<uint16_t>(bytes, entry.header + 28);
  if (begin > bytes.size() || entry.packed > bytes.size() - begin)
    fail_at(path_, "entry '", entry.name, "' is cut short: ", entry.packed, " bytes from ", begin,
            " on, the file holds ", bytes.size());
  return bytes.subspan(begin, entry.packed);
}

Bytes ZipArchive::read(const ZipEntry& entry) {
  const Bytes packed = packed_bytes(entry);
  if (!entry.deflated) {
    if (entry.packed != entry.size)
      fail_at(path_, "entry '", entry.name, "' is stored in ", entry.packed, " bytes, expected ",
              entry.size);
    return packed;
  }
  const auto content = std::make_shared<std::vector<std::byte>>(entry.size);
  if (!inflate_into(packed, *content))
    fail_at(path_, "entry '", entry.name, "' does not inflate to its ", entry.size, " bytes");
  const auto checksum =
      crc32_z(0, reinterpret_cast<const Bytef*>(content->data()), content->size());
  if (checksum != entry.checksum)
    fail_at(path_, "entry '", entry.name, "' does not match its checksum");
  storage_.push_back(content);
  return *content;
}

}  // namespace vit::weights
