#include "tools/rows/sums.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "vit/base/encoding.h"
#include "vit/base/text.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadSize = std::size_t{1} << 18;
constexpr std::size_t kSumDigits = 8;

}  // namespace

std::uint32_t checksum(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string checksum_text(std::uint32_t sum) {
  return hex_number(sum, kSumDigits);
}

std::optional<std::uint32_t> parse_checksum(std::string_view text) {
  return text.size() == kSumDigits ? to_number<std::uint32_t>(text, 16) : std::nullopt;
}

std::string changed_rows_text(std::uint64_t before, std::uint64_t upto) {
  const std::string changed = " not what was written";
  if (upto == before) return "the header is" + changed;
  if (upto == before + 1) return "row " + std::to_string(upto) + " is" + changed;
  return "rows " + std::to_string(before + 1) + " to " + std::to_string(upto) + " are" + changed;
}

fs::path sums_of(const fs::path& file) {
  return file.string() + ".sums";
}

BlockSums::BlockSums(const fs::path& file)
    : file_(file), path_(sums_of(file)), lines_(path_, std::ios::binary), block_(next_block()) {}

BlockSums::~BlockSums() {
  if (out_ >= 0) ::close(out_);
}

std::string BlockSums::line_of(const Block& block) {
  const std::string text = std::to_string(block.end) + ' ' + std::to_string(block.rows) + ' ' +
                           checksum_text(block.sum) + ' ';
  return text + checksum_text(checksum(text)) + '\n';
}

std::optional<BlockSums::Block> BlockSums::parse_line(const std::string& line) {
  Block block;
  std::string sum;
  std::istringstream(line) >> block.end >> block.rows >> sum;
  block.sum = parse_checksum(sum).value_or(0);
  // Formatted again it must give the same line, with its checksum.
  if (line_of(block) != line + '\n') return std::nullopt;
  return block;
}

std::optional<BlockSums::Block> BlockSums::next_block() {
  std::string line;
  if (!std::getline(lines_, line) || lines_.eof()) return std::nullopt;
  const auto block = parse_line(line);
  if (!block || block->end <= last_.end) return std::nullopt;
  return block;
}

void BlockSums::check(std::string_view bytes) {
  while (block_ && !bytes.empty()) {
    const auto part = bytes.substr(0, std::min<std::uint64_t>(bytes.size(), block_->end - at_));
    add(part);
    bytes.remove_prefix(part.size());
    if (at_ != block_->end) continue;
    if (sum_ != block_->sum && damage_.empty())
      damage_ = file_.string() + ": " + changed_rows_text(last_.rows, block_->rows) +
                ", by the checksums in " + path_.filename().string() +
                "; if the change was made on purpose, remove " + path_.string() +
                " to accept the file; otherwise restore a copy of the file, or start "
                "again with --restart";
    last_ = *block_;
    sum_ = 0;
    block_ = next_block();
  }
}

void BlockSums::open_to_write() {
  lines_.close();
  block_.reset();
  if (out_ >= 0) return;
  out_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (out_ < 0) fail_at(path_.string(), "cannot write: ", std::strerror(errno));
}

void BlockSums::cut_lines(std::uint64_t length) {
  // Synced before the file grows again: lines for removed bytes must not reappear.
  if (lseek(out_, 0, SEEK_END) != static_cast<off_t>(length) &&
      (::ftruncate(out_, static_cast<off_t>(length)) != 0 || ::fdatasync(out_) != 0))
    fail_at(path_.string(), "cannot write: ", std::strerror(errno));
  length_ = length;
}

void BlockSums::start() {
  open_to_write();
  cut_lines(0);
  last_ = {};
  at_ = sum_ = 0;
  damage_.clear();
}

void BlockSums::resume(int data, std::uint64_t size) {
  open_to_write();
  lines_.open(path_, std::ios::binary);
  last_ = {};
  std::uint64_t length = 0;
  for (auto block = next_block(); block && block->end <= size; block = next_block()) {
    last_ = *block;
    length += line_of(*block).size();
  }
  lines_.close();
  cut_lines(length);

  at_ = last_.end;
  sum_ = 0;
  std::string buffer(kReadSize, '\0');
  while (at_ < size) {
    const auto want = std::min<std::uint64_t>(size - at_, buffer.size());
    const ssize_t count = ::pread(data, buffer.data(), want, static_cast<off_t>(at_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_at(file_.string(), "cannot read: ", std::strerror(errno));
    add(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
  }
}

void BlockSums::add(std::string_view bytes) {
  sum_ = checksum(bytes, sum_);
  at_ += bytes.size();
}

void BlockSums::mark(std::uint64_t rows) {
  if (at_ == last_.end) return;
  last_ = {at_, rows, sum_};
  sum_ = 0;
  const std::string line = line_of(last_);
  const ssize_t count = ::pwrite(out_, line.data(), line.size(), static_cast<off_t>(length_));
  if (count != static_cast<ssize_t>(line.size())) {
    const int error = count < 0 ? errno : ENOSPC;
    [[maybe_unused]] const int cut = ::ftruncate(out_, static_cast<off_t>(length_));
    fail_at(path_.string(), "cannot write: ", std::strerror(error));
  }
  length_ += line.size();
}

void BlockSums::sync() const {
  if (out_ >= 0 && ::fdatasync(out_) != 0)
    fail_at(path_.string(), "cannot write: ", std::strerror(errno));
}

}  // namespace vit::tools
