#include "vit/index/file.h"

#include <algorithm>

#include "vit/base/error.h"
#include "vit/index/layout.h"
#include "weights/formats/mapped_file.h"

namespace vit::index {
namespace {

using Bytes = std::span<const std::byte>;

template <typename T>
T value_at(Bytes bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads one file. Every length is compared with what is left of the file before it is used.
class Reader {
 public:
  Reader(Bytes bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  Index read() {
    read_header();
    while (read_block()) {
    }
    index_.vectors.rows = index_.entries.size();
    index_.vectors.live.reserve(index_.entries.size());
    for (const Entry& entry : index_.entries)
      index_.vectors.live.push_back(entry.status == Status::kLive ? 1 : 0);
    index_.end = at_;
    return std::move(index_);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail_at(where_, "damaged index: ", parts...,
            "; restore a copy of the file, or remove it and make it again");
  }

  std::uint64_t left() const { return bytes_.size() - at_; }

  /// The next bytes, and what fills them up to the alignment.
  Bytes take(std::uint64_t count, const char* what) {
    if (count > left() || aligned(count) > left())
      refuse(what, " at byte ", at_, " is said to have ", count, " bytes, the file has ", left(),
             " more");
    const Bytes taken = bytes_.subspan(at_, count);
    at_ += aligned(count);
    return taken;
  }

  void read_header() {
    if (left() < sizeof(FileHeader) || value_at<Magic>(bytes_, 0) != kFileMagic)
      fail_at(where_, "is not an index by vit");
    const auto header = value_at<FileHeader>(bytes_, 0);
    if (header.version != kVersion)
      fail_at(where_, "is an index of version ", header.version, ", expected version ", kVersion,
              "; make it again with this vit");
    if (header.sum != header_sum(header)) refuse("its header does not match its checksum");
    if (header.type > 1) refuse("its numbers are of type ", header.type, ", expected 0 or 1");
    if (header.width == 0 || header.width > kMostWidth)
      refuse("its vectors have ", header.width, " numbers, expected 1 to ", kMostWidth);
    at_ = sizeof header;
    const Bytes description = take(header.description_bytes, "the description");
    if (checksum(description) != header.description_sum)
      refuse("its description does not match its checksum");
    index_.format = {static_cast<NumberType>(header.type), header.width,
                     std::string(text_of(description))};
    index_.vectors.type = index_.format.type;
    index_.vectors.width = index_.format.width;
  }

  /// The header is written last: where it is missing, the block is incomplete.
  bool incomplete() const {
    return left() < sizeof(BlockHeader) ||
           std::ranges::all_of(bytes_.subspan(at_, sizeof(BlockHeader)),
                               [](std::byte b) { return b == std::byte{0}; });
  }

  bool read_block() {
    if (incomplete()) return false;
    const std::uint64_t start = at_;
    const auto header = value_at<BlockHeader>(bytes_, at_);
    if (header.magic != kBlockMagic || header.sum != header_sum(header))
      refuse("the block at byte ", start, " does not match its checksum");
    if (header.first != index_.entries.size())
      refuse("the block at byte ", start, " begins with row ", header.first, ", expected ",
             index_.entries.size());
    at_ += sizeof header;
    if (header.rows > left() / index_.vectors.row_bytes())
      refuse("the block at byte ", start, " is said to have ", header.rows,
             " rows, more than the rest of the file has room for");
    const Bytes numbers = take(header.rows * index_.vectors.row_bytes(), "a block's numbers");
    const Bytes table = take(header.table_bytes, "a block's table");
    if (checksum(table) != header.table_sum)
      refuse("the table of the block at byte ", start, " does not match its checksum");
    if (header.rows != 0)
      index_.vectors.blocks.push_back({numbers.data(), header.first, header.rows});
    if (header.rows != 0) index_.sums.push_back(header.numbers_sum);
    read_table(header, table);
    return true;
  }

  void read_table(const BlockHeader& header, Bytes table) {
    for (std::uint64_t row = 0; row < header.rows; ++row) table = read_entry(table);
    if (header.replaced != table.size() / sizeof(std::uint64_t) ||
        table.size() % sizeof(std::uint64_t) != 0)
      refuse("a table has ", table.size(), " bytes for the numbers of ", header.replaced,
             " replaced rows");
    for (std::uint64_t i = 0; i < header.replaced; ++i) {
      const auto row = value_at<std::uint64_t>(table, i * sizeof(std::uint64_t));
      if (row >= header.first)
        refuse("row ", row, " is replaced by a block that begins with row ", header.first);
      index_.entries[row].status = Status::kReplaced;
    }
  }

  Bytes read_entry(Bytes table) {
    const size_t row = index_.entries.size();
    if (table.size() < sizeof(EntryHeader)) refuse("the entry of row ", row, " is cut short");
    const auto header = value_at<EntryHeader>(table, 0);
    table = table.subspan(sizeof header);
    if (header.path_bytes > table.size() || header.note_bytes > table.size() - header.path_bytes)
      refuse("the entry of row ", row, " is cut short");
    const std::string_view path = text_of(table.first(header.path_bytes));
    if (path.empty() || path.find('\0') != path.npos)
      refuse("the path of row ", row, " is empty or has a zero byte");
    if (header.status > 1)
      refuse("the status of row ", row, " is ", header.status, ", expected 0 or 1");
    index_.entries.push_back({.path = path,
                              .note = text_of(table.subspan(header.path_bytes, header.note_bytes)),
                              .bytes = header.bytes,
                              .time = header.time,
                              .width = header.width,
                              .height = header.height,
                              .status = static_cast<Status>(header.status),
                              .content = header.content});
    return table.subspan(header.path_bytes + header.note_bytes);
  }

  Bytes bytes_;
  std::string where_;
  std::uint64_t at_ = 0;
  Index index_;
};

}  // namespace

Index parse_index(std::span<const std::byte> bytes, const std::string& where) {
  return Reader(bytes, where).read();
}

Index read_index(const std::filesystem::path& path) {
  const auto file = weights::map_file(path);
  Index index = parse_index(file->bytes(), path.string());
  index.storage = file;
  return index;
}

void check_numbers(const Index& index, const std::filesystem::path& path) {
  for (size_t i = 0; i < index.vectors.blocks.size(); ++i) {
    const Block& block = index.vectors.blocks[i];
    if (checksum({block.numbers, block.rows * index.vectors.row_bytes()}) != index.sums[i])
      fail_at(path.string(), "damaged index: the numbers of rows ", block.first, " to ",
              block.first + block.rows - 1,
              " are not those that were written; restore a copy of the file, or remove it and make "
              "it again");
  }
}

}  // namespace vit::index
