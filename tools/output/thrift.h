/// The part of Thrift's compact protocol that Parquet's metadata needs: structs, lists, integers,
/// strings and booleans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vit::tools {

enum class ThriftType : unsigned char {
  kTrue = 1,
  kFalse = 2,
  kInt32 = 5,
  kInt64 = 6,
  kText = 8,
  kList = 9,
  kStruct = 12
};

class ThriftWriter {
 public:
  /// The fields of a struct must come in the order of their ids.
  void field(int id, std::int32_t value);
  void field(int id, std::int64_t value);
  void field(int id, std::string_view text);
  void field(int id, bool truth);
  void begin_struct(int id);  ///< as a field
  void begin_list(int id, ThriftType type, std::size_t size);
  void begin_item();  ///< a structure within a list, or the outermost one
  void item(std::int32_t value);
  void item(std::string_view text);
  void end_struct();

  const std::string& bytes() const { return bytes_; }

 private:
  void head(int id, ThriftType type);
  void number(std::uint64_t value);
  void signed_number(std::int64_t value);

  std::string bytes_;
  std::vector<int> last_{};  ///< the last id in each open struct
};

}  // namespace vit::tools
