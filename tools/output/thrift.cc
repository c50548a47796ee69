#include "tools/output/thrift.h"

namespace vit::tools {

void ThriftWriter::number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void ThriftWriter::signed_number(std::int64_t value) {
  number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

void ThriftWriter::head(int id, ThriftType type) {
  const int step = id - last_.back();  // 1 to 15 in all of Parquet's structures
  bytes_ += static_cast<char>(step << 4 | static_cast<int>(type));
  last_.back() = id;
}

void ThriftWriter::field(int id, std::int32_t value) {
  head(id, ThriftType::kInt32);
  signed_number(value);
}

void ThriftWriter::field(int id, std::int64_t value) {
  head(id, ThriftType::kInt64);
  signed_number(value);
}

void ThriftWriter::field(int id, std::string_view text) {
  head(id, ThriftType::kText);
  item(text);
}

void ThriftWriter::field(int id, bool truth) {
  head(id, truth ? ThriftType::kTrue : ThriftType::kFalse);
}

void ThriftWriter::begin_struct(int id) {
  head(id, ThriftType::kStruct);
  begin_item();
}

void ThriftWriter::begin_list(int id, ThriftType type, std::size_t size) {
  constexpr std::size_t kShort = 15;
  head(id, ThriftType::kList);
  const auto low = static_cast<unsigned>(type);
  bytes_ += static_cast<char>((size < kShort ? size : kShort) << 4 | low);
  if (size >= kShort) number(size);
}

void ThriftWriter::begin_item() {
  last_.push_back(0);
}

void ThriftWriter::item(std::int32_t value) {
  signed_number(value);
}

void ThriftWriter::item(std::string_view text) {
  number(text.size());
  bytes_ += text;
}

void ThriftWriter::end_struct() {
  bytes_ += '\0';
  last_.pop_back();
}

}  // namespace vit::tools
