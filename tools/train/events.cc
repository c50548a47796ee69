#include "tools/train/events.h"

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tools/output/file.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t kCastagnoli = 0x82f63b78;  // the polynomial with its bits reversed
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kCastagnoli : 0);
    table[i] = value;
  }
  return table;
}

/// CRC-32C, rotated and shifted as records store it.
std::uint32_t masked_checksum(std::string_view bytes) {
  static const auto table = crc_table();
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes)
    crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

/// The lowest byte first.
template <typename T>
std::string bytes_of(T value) {
  std::uint64_t bits = 0;
  static_assert(sizeof value <= sizeof bits);
  std::memcpy(&bits, &value, sizeof value);
  std::string bytes;
  for (size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>(bits >> (8 * i));
  return bytes;
}

std::string record(const std::string& message) {
  const std::string length = bytes_of(std::uint64_t{message.size()});
  return length + bytes_of(masked_checksum(length)) + message + bytes_of(masked_checksum(message));
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string field(unsigned number, Wire wire, const std::string& content) {
  const std::string key = varint(number << 3 | static_cast<unsigned>(wire));
  return wire == Wire::kBytes ? key + varint(content.size()) + content : key + content;
}

std::string scalar(const std::string& tag, double value) {
  const std::string message =
      field(1, Wire::kBytes, tag) + field(2, Wire::kFixed32, bytes_of(static_cast<float>(value)));
  return field(1, Wire::kBytes, message);
}

/// wall_time = 1, step = 2, file_version = 3, summary = 5.
std::string epoch_record(const train::EpochRow& row, double time) {
  const std::string summary =
      scalar("loss/training", row.train_loss) + scalar("loss/validation", row.validation_loss) +
      scalar("accuracy/training", row.train_accuracy) +
      scalar("accuracy/validation", row.validation_accuracy) + scalar("learning rate", row.rate) +
      scalar("seconds per epoch", row.seconds);
  return record(field(1, Wire::kFixed64, bytes_of(time)) +
                field(2, Wire::kVarint, varint(row.epoch)) + field(5, Wire::kBytes, summary));
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void append(const fs::path& path, std::string_view bytes, size_t before) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return;
  std::error_code ignored;
  fs::resize_file(path, before, ignored);  // no half of a record
  fail_at(path.string(), "cannot be written: ", std::strerror(errno));
}

/// The bytes of a file with the scalars of all epochs.
std::string event_file(const std::vector<train::EpochRow>& history, double start) {
  std::string bytes =
      record(field(1, Wire::kFixed64, bytes_of(start)) + field(3, Wire::kBytes, "brain.Event:2"));
  double time = start;
  for (const train::EpochRow& row : history) {
    time += row.seconds;
    bytes += epoch_record(row, time);
  }
  return bytes;
}

}  // namespace

void write_events(const fs::path& folder, const std::vector<train::EpochRow>& history,
                  double start) {
  fs::create_directories(folder);
  const fs::path path = folder / "events.out.tfevents.vit";
  const std::string bytes = event_file(history, start), before = content_of(path);
  if (!before.empty() && bytes.starts_with(before))
    append(path, std::string_view(bytes).substr(before.size()), before.size());
  else
    write_file(path, bytes);
}

}  // namespace vit::tools
