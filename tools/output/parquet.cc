#include "tools/output/parquet.h"

#include <cassert>
#include <cstring>

#include "tools/output/deflate.h"
#include "tools/output/thrift.h"

namespace vit::tools {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr size_t kGroupRows = 65'536, kGroupBytes = size_t{64} << 20;

// Enumerations of the format, parquet.thrift.
constexpr std::int32_t kInt64 = 2, kFloat = 4, kDouble = 5, kByteArray = 6;  // Type
constexpr std::int32_t kRequired = 0, kOptional = 1;                         // FieldRepetitionType
constexpr std::int32_t kUtf8 = 0, kTimestampMicros = 10;                     // ConvertedType
constexpr std::int32_t kPlain = 0, kRunLength = 3;                           // Encoding
constexpr std::int32_t kGzip = 2;                                            // CompressionCodec
constexpr std::int32_t kDataPage = 0;                                        // PageType

std::int32_t physical(ParquetType type) {
  switch (type) {
    case ParquetType::kFloat:
      return kFloat;
    case ParquetType::kDouble:
      return kDouble;
    case ParquetType::kText:
      return kByteArray;
    case ParquetType::kInteger:
    case ParquetType::kTime:
      break;
  }
  return kInt64;
}

template <typename Number>
void append(std::string& bytes, Number number) {  // little-endian, as all machines we run on
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  bytes.append(raw, sizeof number);
}

void append_value(std::string& bytes, const ParquetValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    append(bytes, static_cast<std::uint32_t>(text->size()));
    bytes += *text;
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    append(bytes, *integer);
  } else if (const auto* small = std::get_if<float>(&value)) {
    append(bytes, *small);
  } else if (const auto* large = std::get_if<double>(&value)) {
    append(bytes, *large);
  }
}

/// Which values are present, as runs: twice the length as a varint, then 1 or 0.
std::string definition_levels(const std::vector<std::pair<bool, std::uint32_t>>& runs) {
  std::string levels;
  for (const auto& [there, length] : runs) {
    std::uint64_t head = std::uint64_t{length} << 1;
    for (; head >= 0x80; head >>= 7) levels += static_cast<char>(head | 0x80);
    levels += static_cast<char>(head);
    levels += static_cast<char>(there ? 1 : 0);
  }
  std::string sized;
  append(sized, static_cast<std::uint32_t>(levels.size()));
  return sized + levels;
}

std::string page_header(size_t rows, size_t plain, size_t packed) {
  ThriftWriter out;
  out.begin_item();
  out.field(1, kDataPage);
  out.field(2, static_cast<std::int32_t>(plain));
  out.field(3, static_cast<std::int32_t>(packed));
  out.begin_struct(5);
  out.field(1, static_cast<std::int32_t>(rows));
  out.field(2, kPlain);
  out.field(3, kRunLength);
  out.field(4, kRunLength);
  out.end_struct();
  out.end_struct();
  return out.bytes();
}

void add_schema(ThriftWriter& out, const std::vector<ParquetColumn>& columns) {
  out.begin_list(2, ThriftType::kStruct, columns.size() + 1);
  out.begin_item();
  out.field(4, std::string_view("schema"));
  out.field(5, static_cast<std::int32_t>(columns.size()));
  out.end_struct();
  for (const auto& column : columns) {
    out.begin_item();
    out.field(1, physical(column.type));
    out.field(3, column.optional ? kOptional : kRequired);
    out.field(4, std::string_view(column.name));
    if (column.type == ParquetType::kText) {
      out.field(6, kUtf8);
      out.begin_struct(10);
      out.begin_struct(1);  // STRING
      out.end_struct();
      out.end_struct();
    } else if (column.type == ParquetType::kTime) {
      out.field(6, kTimestampMicros);
      out.begin_struct(10);
      out.begin_struct(8);  // TIMESTAMP
      out.field(1, true);   // in UTC
      out.begin_struct(2);
      out.begin_struct(2);  // MICROS
      out.end_struct();
      out.end_struct();
      out.end_struct();
      out.end_struct();
    }
    out.end_struct();
  }
}

}  // namespace

struct ParquetWriter::Chunk {
  std::string values{};
  std::vector<std::pair<bool, std::uint32_t>> runs{};  ///< whether values are there

  void count(bool there) {
    if (runs.empty() || runs.back().first != there) runs.emplace_back(there, 0);
    ++runs.back().second;
  }
};

struct ParquetWriter::Group {
  struct Place {
    std::uint64_t offset = 0, plain = 0, packed = 0;  ///< bytes with the header of the page
  };
  size_t rows = 0;
  std::vector<Place> places{};
};

ParquetWriter::ParquetWriter(std::vector<ParquetColumn> columns, Write write)
    : columns_(std::move(columns)), write_(std::move(write)), chunks_(columns_.size()) {
  put(kMagic);
}
ParquetWriter::~ParquetWriter() = default;

void ParquetWriter::put(std::string_view bytes) {
  write_(bytes);
  written_ += bytes.size();
}

void ParquetWriter::add(std::span<const ParquetValue> row) {
  assert(row.size() == columns_.size());
  for (size_t i = 0; i < row.size(); ++i) {
    Chunk& chunk = chunks_[i];
    const size_t before = chunk.values.size();
    const bool there = !std::holds_alternative<std::monostate>(row[i]);
    assert(there || columns_[i].optional);
    if (columns_[i].optional) chunk.count(there);
    append_value(chunk.values, row[i]);
    pending_ += chunk.values.size() - before;
  }
  ++rows_;
  if (rows_ == kGroupRows || pending_ >= kGroupBytes) end_group();
}

void ParquetWriter::end_group() {
  if (rows_ == 0) return;
  Group group{.rows = rows_};
  for (size_t i = 0; i < columns_.size(); ++i) {
    Chunk& chunk = chunks_[i];
    const std::string page =
        (columns_[i].optional ? definition_levels(chunk.runs) : "") + chunk.values;
    const std::string packed = deflated(page, {.frame = DeflateFrame::kGzip}),
                      head = page_header(rows_, page.size(), packed.size());
    group.places.push_back({written_, head.size() + page.size(), head.size() + packed.size()});
    put(head);
    put(packed);
    chunk = {};
  }
  groups_.push_back(std::move(group));
  rows_ = pending_ = 0;
}

namespace {

void add_facts(ThriftWriter& out, std::span<const std::pair<std::string, std::string>> facts) {
  out.begin_list(5, ThriftType::kStruct, facts.size());
  for (const auto& [name, text] : facts) {
    out.begin_item();
    out.field(1, std::string_view(name));
    out.field(2, std::string_view(text));
    out.end_struct();
  }
}

}  // namespace

void ParquetWriter::add_chunk(ThriftWriter& out, const Group& group, size_t column) const {
  const Group::Place& place = group.places[column];
  out.begin_item();
  out.field(2, static_cast<std::int64_t>(place.offset));
  out.begin_struct(3);
  out.field(1, physical(columns_[column].type));
  out.begin_list(2, ThriftType::kInt32, 2);
  out.item(kPlain);
  out.item(kRunLength);
  out.begin_list(3, ThriftType::kText, 1);
  out.item(std::string_view(columns_[column].name));
  out.field(4, kGzip);
  out.field(5, static_cast<std::int64_t>(group.rows));
  out.field(6, static_cast<std::int64_t>(place.plain));
  out.field(7, static_cast<std::int64_t>(place.packed));
  out.field(9, static_cast<std::int64_t>(place.offset));
  out.end_struct();
  out.end_struct();
}

void ParquetWriter::finish(std::span<const std::pair<std::string, std::string>> facts) {
  end_group();
  std::int64_t rows = 0;
  for (const Group& group : groups_) rows += static_cast<std::int64_t>(group.rows);
  ThriftWriter out;
  out.begin_item();
  out.field(1, std::int32_t{1});
  add_schema(out, columns_);
  out.field(3, rows);
  out.begin_list(4, ThriftType::kStruct, groups_.size());
  for (const Group& group : groups_) {
    std::uint64_t bytes = 0;
    out.begin_item();
    out.begin_list(1, ThriftType::kStruct, columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      add_chunk(out, group, i);
      bytes += group.places[i].plain;
    }
    out.field(2, static_cast<std::int64_t>(bytes));
    out.field(3, static_cast<std::int64_t>(group.rows));
    out.end_struct();
  }
  add_facts(out, facts);
  out.field(6, std::string_view("vit version " VIT_VERSION));
  out.end_struct();
  std::string end = out.bytes();
  append(end, static_cast<std::uint32_t>(out.bytes().size()));
  put(end);
  put(kMagic);
}

}  // namespace vit::tools
