/// Reads the tables of the Parquet writer by the format's specification, for tests: flat columns,
/// plain values, gzip, one data page for each column chunk. Shares no code with the writer.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace vit::tools::test {

/// A value of Thrift's compact protocol.
struct ThriftValue {
  std::int64_t number = 0;
  std::string text{};
  std::vector<ThriftValue> list{};
  std::map<int, ThriftValue> fields{};

  const ThriftValue& operator[](int id) const { return fields.at(id); }
  bool has(int id) const { return fields.contains(id); }
};

class ThriftReader {
 public:
  explicit ThriftReader(const std::string& bytes, size_t at = 0) : bytes_(bytes), at_(at) {}
  size_t at() const { return at_; }

  ThriftValue structure() {
    ThriftValue value;
    int id = 0;
    while (const int head = byte()) {
      id = head >> 4 == 0 ? static_cast<int>(signed_number()) : id + (head >> 4);
      value.fields[id] = read(head & 15);
    }
    return value;
  }

 private:
  int byte() { return static_cast<unsigned char>(bytes_.at(at_++)); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const int next = byte();
      value |= static_cast<std::uint64_t>(next & 127) << shift;
      if (next < 128) return value;
    }
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  ThriftValue read(int type) {
    ThriftValue value;
    if (type == 1 || type == 2) {
      value.number = type == 1;
    } else if (type >= 4 && type <= 6) {
      value.number = signed_number();
    } else if (type == 8) {
      const size_t size = number();
      value.text = bytes_.substr(at_, size);
      at_ += size;
    } else if (type == 9) {
      const int head = byte();
      const size_t size = head >> 4 == 15 ? number() : static_cast<size_t>(head >> 4);
      for (size_t i = 0; i < size; ++i) value.list.push_back(read(head & 15));
    } else if (type == 12) {
      value = structure();
    } else {
      throw std::runtime_error("an unknown type of Thrift: " + std::to_string(type));
    }
    return value;
  }

  const std::string& bytes_;
  size_t at_;
};

inline std::string gunzipped(const std::string& packed, size_t size) {
  std::string plain(size, '\0');
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.avail_out != 0)
    throw std::runtime_error("a page has another size than its header says");
  return plain;
}

/// A column with its values as text, "-" where there is none.
struct ReadColumn {
  std::string name;
  std::int64_t type = 0, repetition = 0;
  std::vector<std::string> values{};
};

struct ReadTable {
  std::int64_t rows = 0;
  size_t groups = 0;
  std::vector<ReadColumn> columns{};
  std::map<std::string, std::string> facts{};

  const std::vector<std::string>& operator[](const std::string& name) const {
    for (const auto& column : columns)
      if (column.name == name) return column.values;
    throw std::runtime_error("no column " + name);
  }
};

template <typename Number>
Number number_at(const std::string& bytes, size_t at) {
  Number number;
  if (bytes.size() < sizeof number || at > bytes.size() - sizeof number)
    throw std::runtime_error("a number lies outside");
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// Whether each value is there: runs and groups of eight bits, after their length.
inline std::vector<bool> levels_of(const std::string& page, size_t count, size_t& at) {
  const size_t end = at + 4 + number_at<std::uint32_t>(page, at);
  at += 4;
  std::vector<bool> levels;
  while (at < end) {
    std::uint64_t head = 0;
    for (int shift = 0;; shift += 7) {
      const auto next = static_cast<unsigned char>(page.at(at++));
      head |= static_cast<std::uint64_t>(next & 127) << shift;
      if (next < 128) break;
    }
    if (head & 1)
      for (std::uint64_t i = 0; i < head >> 1; ++i, ++at)
        for (int bit = 0; bit < 8; ++bit) levels.push_back(page.at(at) >> bit & 1);
    else
      levels.insert(levels.end(), head >> 1, page.at(at++) != 0);
  }
  if (levels.size() < count) throw std::runtime_error("too few definition levels");
  levels.resize(count);
  return levels;
}

inline void read_chunk(const std::string& file, const ThriftValue& meta, ReadColumn& column) {
  ThriftReader reader(file, static_cast<size_t>(meta[9].number));
  const ThriftValue head = reader.structure();
  const auto packed = static_cast<size_t>(head[3].number);
  if (meta[4].number != 2 || head[1].number != 0) throw std::runtime_error("unexpected page");
  const std::string page =
      gunzipped(file.substr(reader.at(), packed), static_cast<size_t>(head[2].number));
  if (meta[7].number !=
      static_cast<std::int64_t>(reader.at() - static_cast<size_t>(meta[9].number) + packed))
    throw std::runtime_error("a chunk has another size than the metadata say");
  const auto count = static_cast<size_t>(head[5][1].number);
  size_t at = 0;
  const auto there =
      column.repetition == 1 ? levels_of(page, count, at) : std::vector<bool>(count, true);
  for (const bool value : there) {
    if (!value) {
      column.values.emplace_back("-");
    } else if (column.type == 6) {
      const auto size = number_at<std::uint32_t>(page, at);
      column.values.push_back(page.substr(at + 4, size));
      at += 4 + size;
    } else if (column.type == 2) {
      column.values.push_back(std::to_string(number_at<std::int64_t>(page, at)));
      at += 8;
    } else if (column.type == 4) {
      column.values.push_back(std::to_string(number_at<float>(page, at)));
      at += 4;
    } else {
      column.values.push_back(std::to_string(number_at<double>(page, at)));
      at += 8;
    }
  }
  if (at != page.size()) throw std::runtime_error("bytes are left after the values");
}

inline ReadTable read_parquet(const std::string& file) {
  if (file.size() < 12 || !file.starts_with("PAR1") || !file.ends_with("PAR1"))
    throw std::runtime_error("not a Parquet file");
  const auto size = number_at<std::uint32_t>(file, file.size() - 8);
  ThriftReader reader(file, file.size() - 8 - size);
  const ThriftValue meta = reader.structure();
  if (reader.at() != file.size() - 8) throw std::runtime_error("the metadata end elsewhere");
  ReadTable table{.rows = meta[3].number, .groups = meta[4].list.size()};
  for (size_t i = 1; i < meta[2].list.size(); ++i) {
    const ThriftValue& element = meta[2].list[i];
    table.columns.push_back({element[4].text, element[1].number, element[3].number});
  }
  for (const auto& group : meta[4].list)
    for (size_t i = 0; i < table.columns.size(); ++i)
      read_chunk(file, group[1].list.at(i)[3], table.columns[i]);
  if (meta.has(5))
    for (const auto& fact : meta[5].list) table.facts[fact[1].text] = fact[2].text;
  return table;
}

}  // namespace vit::tools::test
