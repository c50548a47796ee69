#include "tools/rows/text_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <limits>

#include "tools/output/terminal.h"
#include "tools/rows/header_file.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 18;
constexpr std::size_t kPendingSize = std::size_t{1} << 20;
/// Largest row or line of column names: more than the features of all patches of a large model. A
/// row without an end is refused before the buffer doubles from 32 MB.
constexpr std::size_t kMostRecord = (std::size_t{32} << 20) - kReadSize;
constexpr int kBetweenLooks = 100;                // ms between checks of the stop flag
constexpr auto kGrace = std::chrono::seconds(1);  // for a reader, after a stop signal

}  // namespace

TextFile::TextFile(const std::filesystem::path& path, TextFormat format, const RowShape& shape,
                   bool read_only)
    : path_(path.string()), format_(format), shape_(shape), read_only_(read_only) {
  file_ = ::open(path.c_str(), (read_only ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0666);
  if (file_ < 0)
    fail_at(path_, read_only ? "cannot read: " : "cannot write: ", std::strerror(errno));
  sums_.emplace(path);
}

TextFile::TextFile(TextFormat format, const RowShape& shape, const std::atomic<bool>* stop)
    : path_("standard output"),
      format_(format),
      shape_(shape),
      file_(STDOUT_FILENO),
      pipe_(true),
      stop_(stop) {
  at_end_ = true;
}

TextFile::~TextFile() {
  if (!pipe_ && file_ >= 0) ::close(file_);
}

std::optional<std::string> TextFile::read_header() {
  if (pipe_) return std::nullopt;
  std::optional<std::string> columns;
  if (format_ == TextFormat::kCsv && read_record()) columns = record_;
  if ((format_ == TextFormat::kJsonl || columns) && read_record()) {
    if (auto header = header_of(format_, record_)) return header;
    unread_record();
  }
  return header_beside(columns);
}

std::optional<std::string> TextFile::header_beside(const std::optional<std::string>& columns) {
  const bool csv = format_ == TextFormat::kCsv,
             ours = columns && columns->starts_with(kFirstColumns);
  const bool damaged = !sums_->damage().empty();
  const auto stored = read_header_file(path_);
  if (stored && (ours || !csv)) {
    if (!stored->intact)
      header_damage_ = header_file_of(path_).string() +
                       ": the header is not what was written, by the checksums; restore a copy of "
                       "it, or start again with --restart";
    return stored->text;
  }
  // It has our checksums, so it was a file of results.
  if (damaged) fail_at(path_, "its header is damaged; restore a copy of the file, or remove it");
  const auto rest = std::string_view(buffer_).substr(taken_);
  const auto end = record_end(format_, rest);
  if (end == rest.npos && is_begun()) return std::nullopt;
  if (ours && read_only_) return header_of_columns(*columns);
  if ((ours || !csv) && stored_row(format_, shape_, rest.substr(0, end)))
    fail_at(
        path_, "has rows, but ", header_file_of(path_).filename().string(),
        ", which says what made them, is missing; put it beside the file, or give another name");
  fail_at(path_, "exists and is not a file of results by vit; give another name, or remove it");
}

bool TextFile::is_begun() const {
  const std::string columns = opening(format_, shape_);
  const std::string start =
      columns.empty() ? R"({"number":0,"status")" : columns.substr(0, columns.size() - 1);
  std::string there(start.size(), '\0');
  const ssize_t count = ::pread(file_, there.data(), there.size(), 0);
  return count >= 0 && start.starts_with(there.substr(0, static_cast<size_t>(count)));
}

void TextFile::check_damage() const {
  if (sums_ && !sums_->damage().empty()) throw DamagedRows(sums_->damage(), path_.size());
  if (!header_damage_.empty())
    throw DamagedRows(header_damage_, header_file_of(path_).string().size());
}

std::optional<StoredRow> TextFile::next() {
  if (at_end_) return std::nullopt;
  const bool found = read_record();
  check_damage();
  if (!found) return std::nullopt;
  const auto row = stored_row(format_, shape_, record_);
  if (row) {
    ++rows_;
    return row;
  }
  whole_ -= record_.size();
  // Only the last one may be incomplete; it may contain a line break.
  if (read_record())
    fail_as<DamagedRows>(path_, "row ", rows_ + 1,
                         " is damaged, and others come after it; start again with --restart");
  check_damage();
  return std::nullopt;
}

void TextFile::start(std::string_view header) {
  if (sums_) sums_->start();  // before the file: rows without checksums are not refused
  std::error_code ignored;
  if (!pipe_) std::filesystem::remove(header_file_of(path_), ignored);
  if (!pipe_ && (::ftruncate(file_, 0) != 0 || lseek(file_, 0, SEEK_SET) != 0))
    fail_at(path_, "cannot write: ", std::strerror(errno));
  whole_ = rows_ = 0;
  at_end_ = true;
  if (!pipe_) write_header_file(path_, header);
  header_damage_.clear();
  pending_ = opening(format_, shape_);
  if (pipe_) pending_.clear();
  flush();
}

void TextFile::append(const Row& row, std::optional<std::uint32_t> numbers_sum) {
  append_record(to_record(format_, shape_, row, numbers_sum));
}

void TextFile::append_stored(const TextFile& other, std::uint64_t number) {
  append_record(renumbered(format_, other.record_, number));
}

void TextFile::append_record(std::string_view record) {
  go_to_end();
  pending_ += record;
  ++rows_;
  if (pending_.size() >= kPendingSize) flush();
}

void TextFile::flush() {
  if (pending_.empty()) return;
  write_all(pending_);
  whole_ += pending_.size();
  if (sums_) sums_->add(pending_);
  pending_.clear();
  if (sums_) sums_->mark(rows_);
}

void TextFile::finish() {
  go_to_end();
  flush();
  if (pipe_) return;
  if (::fdatasync(file_) != 0) fail_at(path_, "cannot write: ", std::strerror(errno));
  sums_->mark(rows_);  // a file that had none
  sums_->sync();
}

bool TextFile::read_record() {
  while (true) {
    const auto rest = std::string_view(buffer_).substr(taken_);
    const std::size_t end = record_end(format_, rest);
    if (end != rest.npos) {
      record_ = rest.substr(0, end);
      taken_ += end;
      whole_ += end;
      return true;
    }
    if (rest.size() >= kMostRecord)
      fail_at(path_, "row ", rows_ + 1, " is longer than ", kMostRecord,
              " bytes: this is not a file of results by vit, or it is damaged");
    if (!read_more()) return false;
  }
}

void TextFile::unread_record() {
  taken_ -= record_.size();
  whole_ -= record_.size();
}

bool TextFile::read_more() {
  buffer_.erase(0, taken_);
  taken_ = 0;
  const std::size_t had = buffer_.size();
  // Reads grow with the record, because its end is searched from its start after each one.
  const std::size_t more = std::max(kReadSize, had);
  // Reserved once for a long row: growing step by step would leave a second copy in the heap.
  if (had > kReadSize) buffer_.reserve(2 * kMostRecord);
  buffer_.resize(had + more);
  ssize_t count = 0;
  do count = ::read(file_, buffer_.data() + had, more);
  while (count < 0 && errno == EINTR);
  if (count < 0) fail_at(path_, "cannot read: ", std::strerror(errno));
  buffer_.resize(had + static_cast<std::size_t>(count));
  sums_->check(std::string_view(buffer_).substr(had));
  return count > 0;
}

void TextFile::go_to_end() {
  if (at_end_) return;
  while (next()) {
  }
  cut();
}

void TextFile::forget_from_here() {
  whole_ -= record_.size();
  --rows_;
  cut();
}

void TextFile::cut() {
  at_end_ = true;
  buffer_ = {};
  if (read_only_) return;
  sums_->resume(file_, whole_);
  if (::ftruncate(file_, static_cast<off_t>(whole_)) != 0 || lseek(file_, 0, SEEK_END) < 0)
    fail_at(path_, "cannot write: ", std::strerror(errno));
}

size_t TextFile::wait_for_reader() const {
  // A pipe that is ready accepts at least this many bytes. Standard output may be shared with other
  // programs, so it must not be made non-blocking.
  constexpr size_t kRoom = PIPE_BUF;
  struct stat status {};
  const bool always = ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
  if (stop_ == nullptr || always) return std::numeric_limits<size_t>::max();
  pollfd wanted{file_, POLLOUT, 0};
  auto since = std::chrono::steady_clock::now();
  while (::poll(&wanted, 1, kBetweenLooks) <= 0) {  // a signal may have interrupted it
    const auto now = std::chrono::steady_clock::now();
    if (!*stop_) since = now;
    if (now - since >= kGrace) throw OutputStalled();
  }
  return kRoom;
}

void TextFile::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t part = pipe_ ? std::min(wait_for_reader(), bytes.size()) : bytes.size();
    const ssize_t count = ::write(file_, bytes.data(), part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      if (pipe_ && error == EPIPE) throw OutputClosed();
      // The file keeps whole rows only, for readers of the file.
      if (!pipe_ && ::ftruncate(file_, static_cast<off_t>(whole_)) == 0) pending_.clear();
      fail_at(path_, "cannot write: ", std::strerror(error));
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace vit::tools
