#include "vit/index/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "vit/base/atomic_file.h"
#include "vit/base/error.h"
#include "vit/index/layout.h"
#include "weights/numbers.h"

namespace vit::index {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 26;  ///< of a compact file

template <typename T>
void add_bytes(std::vector<std::byte>& to, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void fill_up(std::vector<std::byte>& bytes) {
  bytes.resize(aligned(bytes.size()));
}

void add_entry(std::vector<std::byte>& table, const Entry& entry) {
  assert(!entry.path.empty() && entry.path.find('\0') == entry.path.npos);
  const EntryHeader header{.path_bytes = static_cast<std::uint32_t>(entry.path.size()),
                           .note_bytes = static_cast<std::uint32_t>(entry.note.size()),
                           .bytes = entry.bytes,
                           .time = entry.time,
                           .width = entry.width,
                           .height = entry.height,
                           .status = static_cast<std::uint32_t>(entry.status),
                           .content = entry.content};
  add_bytes(table, std::span(&header, 1));
  add_bytes(table, std::span(entry.path));
  add_bytes(table, std::span(entry.note));
}

/// With both parts filled up to the alignment. `table` without the replaced rows.
BlockHeader seal(std::vector<std::byte>& numbers, std::vector<std::byte>& table,
                 std::span<const std::uint64_t> replaced) {
  add_bytes(table, replaced);
  BlockHeader header;
  header.table_bytes = table.size();
  header.replaced = replaced.size();
  header.numbers_sum = checksum(numbers);
  header.table_sum = checksum(table);
  fill_up(numbers);
  fill_up(table);
  return header;
}

void add_numbers(std::vector<std::byte>& to, NumberType type, std::span<const float> vector) {
  if (type == NumberType::kF32) return add_bytes(to, vector);
  for (const float x : vector) {
    const std::uint16_t half = weights::f16_of_float(x);
    add_bytes(to, std::span(&half, 1));
  }
}

std::vector<std::byte> file_start(const Format& format) {
  assert(format.width != 0 && format.width <= kMostWidth);
  FileHeader header;
  header.type = static_cast<std::uint32_t>(format.type);
  header.width = format.width;
  header.description_bytes = format.description.size();
  header.description_sum = checksum(std::as_bytes(std::span(format.description)));
  header.sum = header_sum(header);
  std::vector<std::byte> bytes;
  add_bytes(bytes, std::span<const FileHeader>(&header, 1));
  add_bytes(bytes, std::span<const char>(format.description));
  fill_up(bytes);
  return bytes;
}

}  // namespace

void create_index(const std::filesystem::path& path, const Format& format) {
  write_atomically(path, file_start(format));
}

IndexWriter::IndexWriter(const std::filesystem::path& path, const Index& index)
    : path_(path.string()),
      type_(index.format.type),
      width_(index.format.width),
      end_(index.end),
      rows_(index.entries.size()) {
  file_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file_ < 0) fail_at(path_, "cannot write: ", std::strerror(errno));
  if (::ftruncate(file_, static_cast<off_t>(end_)) != 0) {
    const int error = errno;
    ::close(file_);
    fail_at(path_, "cannot write: ", std::strerror(error));
  }
}

IndexWriter::~IndexWriter() {
  ::close(file_);
}

size_t IndexWriter::append(const Entry& entry, std::span<const float> vector) {
  assert(vector.size() == (entry.status == Status::kLive ? width_ : 0));
  if (entry.status == Status::kLive)
    add_numbers(numbers_, type_, vector);
  else
    numbers_.resize(numbers_.size() + width_ * size_of(type_));
  add_entry(table_, entry);
  return rows_ + entries_++;
}

void IndexWriter::replace(size_t row) {
  assert(row < rows_);
  replaced_.push_back(row);
}

void IndexWriter::flush() {
  if (entries_ == 0 && replaced_.empty()) return;
  BlockHeader header = seal(numbers_, table_, replaced_);
  header.rows = entries_;
  header.first = rows_;
  header.sum = header_sum(header);
  try {
    write_at(end_ + sizeof header, numbers_);
    write_at(end_ + sizeof header + numbers_.size(), table_);
    // Or a machine that goes down could leave the header of a block that never came to the disk.
    if (::fdatasync(file_) != 0) fail_at(path_, "cannot write: ", std::strerror(errno));
    write_at(end_, std::as_bytes(std::span(&header, 1)));
  } catch (const Error&) {
    [[maybe_unused]] const int ignored = ::ftruncate(file_, static_cast<off_t>(end_));
    throw;
  }
  end_ += sizeof header + numbers_.size() + table_.size();
  rows_ += entries_;
  entries_ = 0;
  numbers_.clear();
  table_.clear();
  replaced_.clear();
}

void IndexWriter::finish() {
  flush();
  if (::fdatasync(file_) != 0) fail_at(path_, "cannot write: ", std::strerror(errno));
}

void IndexWriter::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_at(path_, "cannot write: ", std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

bool worth_compacting(const Index& index) {
  const auto replaced = static_cast<size_t>(std::ranges::count(
      index.entries, Status::kReplaced, [](const Entry& entry) { return entry.status; }));
  const size_t bytes = index.vectors.rows * index.vectors.row_bytes();
  return index.vectors.blocks.size() > 8 + 2 * (bytes / kBlockBytes) ||
         4 * replaced > index.entries.size();
}

void compact(const std::filesystem::path& path, const Index& index) {
  AtomicFile file(path);
  file.write(file_start(index.format));
  const Vectors& vectors = index.vectors;
  std::vector<std::byte> numbers, table;
  size_t rows = 0, first = 0;
  const auto write_block = [&] {
    if (rows == 0) return;
    BlockHeader header = seal(numbers, table, {});
    header.rows = rows;
    header.first = first;
    header.sum = header_sum(header);
    file.write(std::as_bytes(std::span(&header, 1)));
    file.write(numbers);
    file.write(table);
    first += rows;
    rows = 0;
    numbers.clear();
    table.clear();
  };
  for (const Block& block : vectors.blocks)
    for (size_t i = 0; i < block.rows; ++i) {
      const Entry& entry = index.entries[block.first + i];
      if (entry.status == Status::kReplaced) continue;
      add_bytes(numbers, std::span(block.numbers + i * vectors.row_bytes(), vectors.row_bytes()));
      add_entry(table, entry);
      ++rows;
      if (numbers.size() >= kBlockBytes) write_block();
    }
  write_block();
  file.commit();
}

}  // namespace vit::index
