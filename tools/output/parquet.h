/// Tables in Apache Parquet's format, written row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace vit::tools {

class ThriftWriter;

using std::size_t;

enum class ParquetType { kInteger, kFloat, kDouble, kText, kTime };

struct ParquetColumn {
  std::string name;
  ParquetType type;
  bool optional = true;
};

/// A value of the type of its column, or nothing: an integer or a time (microseconds since 1970,
/// UTC), a float, a double, or a text in UTF-8.
using ParquetValue = std::variant<std::monostate, std::int64_t, float, double, std::string>;

/// Memory is bounded: rows are written in groups of at most 65,536.
class ParquetWriter {
 public:
  using Write = std::function<void(std::string_view bytes)>;

  ParquetWriter(std::vector<ParquetColumn> columns, Write write);
  ~ParquetWriter();

  /// One value for each column.
  void add(std::span<const ParquetValue> row);
  /// Must be called last. `facts` become the key-value metadata of the file.
  void finish(std::span<const std::pair<std::string, std::string>> facts);

 private:
  struct Chunk;
  struct Group;

  void end_group();
  void put(std::string_view bytes);
  void add_chunk(ThriftWriter& out, const Group& group, size_t column) const;

  std::vector<ParquetColumn> columns_;
  Write write_;
  std::vector<Chunk> chunks_;  ///< of the current group, by column
  std::vector<Group> groups_;
  std::uint64_t written_ = 0;  ///< bytes
  size_t rows_ = 0;            ///< of the current group
  size_t pending_ = 0;         ///< bytes of the current group
};

}  // namespace vit::tools
