#include "tools/rows/numpy_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "tools/output/numpy.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr size_t kOpeningBytes = 128;  // the same for any number of rows
constexpr size_t kPendingSize = size_t{1} << 22, kPendingListSize = size_t{1} << 18;

std::uint64_t size_of(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

std::filesystem::path sidecar_of(const std::filesystem::path& npy) {
  return npy.string() + ".jsonl";
}

NumpyFile::NumpyFile(const std::filesystem::path& path, const RowShape& shape, bool read_only)
    : path_(path.string()),
      shape_(shape),
      list_(sidecar_of(path), TextFormat::kJsonl, {.stamps = shape.stamps, .facts = shape.facts},
            read_only) {
  file_ = ::open(path.c_str(), (read_only ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0666);
  if (file_ < 0)
    fail_at(path_, read_only ? "cannot read: " : "cannot write: ", std::strerror(errno));
}

NumpyFile::~NumpyFile() {
  ::close(file_);
}

std::optional<std::string> NumpyFile::read_header() {
  auto header = list_.read_header();
  if (!header && size_of(file_) != 0)
    fail_at(path_, "exists and is not a file of results by vit; give another name, or remove it");
  return header;
}

std::optional<StoredRow> NumpyFile::next() {
  auto row = list_.next();
  if (!row) return row;
  if (offset_of(rows_ + 1) > size_of(file_)) {  // a power failure between the two files
    list_.forget_from_here();
    return std::nullopt;
  }
  ++rows_;
  if (!row->numbers_sum || *row->numbers_sum == checksum(read_row(rows_ - 1))) return row;
  if (!damaged_fail_)
    fail_as<DamagedRows>(path_, "the numbers of row ", rows_, " (", row->path,
                         ") do not match the checksum in ", sidecar_of(path_).filename().string(),
                         "; --retry-failed computes such rows again, in place");
  row->failed = true;
  return row;
}

std::string NumpyFile::read_row(std::uint64_t row) const {
  std::string numbers(row_bytes(), '\0');
  const auto offset = static_cast<off_t>(offset_of(row));
  if (::pread(file_, numbers.data(), numbers.size(), offset) !=
      static_cast<ssize_t>(numbers.size()))
    fail_at(path_, "cannot read row ", row + 1);
  return numbers;
}

void NumpyFile::start(std::string_view header) {
  if (::ftruncate(file_, 0) != 0) fail_at(path_, "cannot write: ", std::strerror(errno));
  list_.start(header);
  rows_ = waiting_ = 0;
  pending_.clear();
  write_opening();
}

void NumpyFile::append(const Row& row) {
  const std::vector<float> nothing(row.failed() ? shape_.numbers() : 0,
                                   std::numeric_limits<float>::quiet_NaN());
  const std::string_view numbers(
      reinterpret_cast<const char*>(row.failed() ? nothing.data() : row.features.data()),
      row_bytes());
  pending_ += numbers;
  ++waiting_;
  list_.append(row, checksum(numbers));
  flush_if_much();
}

void NumpyFile::append_stored(const NumpyFile& other, std::uint64_t number) {
  pending_ += other.read_row(other.rows_ - 1);
  ++waiting_;
  list_.append_stored(other.list_, number);
  flush_if_much();
}

void NumpyFile::flush_if_much() {
  // Before the list flushes by itself: numbers must be written first.
  if (pending_.size() >= kPendingSize || list_.pending_bytes() >= kPendingListSize) flush();
}

void NumpyFile::flush() {
  if (waiting_ == 0) return;
  write_at(offset_of(rows_), pending_);
  // A power failure could otherwise leave records whose numbers never reached the disk.
  if (::fdatasync(file_) != 0) fail_at(path_, "cannot write: ", std::strerror(errno));
  rows_ += waiting_;
  pending_.clear();
  waiting_ = 0;
  list_.flush();
  write_opening();
}

void NumpyFile::finish() {
  flush();
  if (::ftruncate(file_, static_cast<off_t>(offset_of(rows_))) != 0)
    fail_at(path_, "cannot write: ", std::strerror(errno));
  write_opening();
  if (::fdatasync(file_) != 0) fail_at(path_, "cannot write: ", std::strerror(errno));
  list_.finish();
}

std::uint64_t NumpyFile::offset_of(std::uint64_t row) const {
  return kOpeningBytes + row * row_bytes();
}

void NumpyFile::write_opening() {
  std::vector<size_t> extents{static_cast<size_t>(rows_)};
  extents.insert(extents.end(), shape_.features.begin(), shape_.features.end());
  write_at(0, npy_opening(extents, kOpeningBytes));
}

void NumpyFile::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_at(path_, "cannot write: ", std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

}  // namespace vit::tools
