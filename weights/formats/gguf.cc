#include "weights/formats/gguf.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "vit/base/round.h"
#include "weights/formats/cursor.h"
#include "weights/formats/mapped_file.h"

namespace vit::weights {
namespace {

using nlohmann::json;
using std::uint32_t;
using std::uint64_t;

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr size_t kMostFields = 10'000, kMostAxesInFile = 4;
constexpr size_t kLongestName = 1000, kLongestKeptList = 25'000;
constexpr size_t kLongestText = 1 << 20;
constexpr size_t kUsualAlignment = 32, kLargestAlignment = 1 << 20;

enum Type : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};

size_t size_of(uint32_t type) {
  constexpr size_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < std::size(kSizes) ? kSizes[type] : 0;
}

std::string take_name(Cursor& cursor) {
  const auto length = cursor.take<uint64_t>();
  if (length > kLongestName)
    fail_at(cursor.where(), "a name of ", length, " bytes at byte ", cursor.at());
  return cursor.take_string(length);
}

/// Nothing we look for is long.
std::string take_text(Cursor& cursor) {
  const auto length = cursor.take<uint64_t>();
  if (length <= kLongestText) return cursor.take_string(length);
  cursor.take_bytes(length);
  return {};
}

json take_scalar(Cursor& cursor, uint32_t type) {
  switch (type) {
    case kU8:
      return cursor.take<std::uint8_t>();
    case kI8:
      return cursor.take<std::int8_t>();
    case kU16:
      return cursor.take<std::uint16_t>();
    case kI16:
      return cursor.take<std::int16_t>();
    case kU32:
      return cursor.take<uint32_t>();
    case kI32:
      return cursor.take<std::int32_t>();
    case kF32:
      return cursor.take<float>();
    case kBool:
      return cursor.take<std::uint8_t>() != 0;
    case kString:
      return take_text(cursor);
    case kU64:
      return cursor.take<uint64_t>();
    case kI64:
      return cursor.take<std::int64_t>();
    case kF64:
      return cursor.take<double>();
    default:
      fail_at(cursor.where(), "a field of the unknown type ", type, " at byte ", cursor.at());
  }
}

/// Long lists (a vocabulary) are passed over.
json take_list(Cursor& cursor) {
  const auto type = cursor.take<uint32_t>();
  const auto count = cursor.take<uint64_t>();
  if (type == kArray || type > kF64)
    fail_at(cursor.where(), "a list of the unknown type ", type, " at byte ", cursor.at());
  const size_t least = type == kString ? sizeof(uint64_t) : size_of(type);
  if (count > cursor.left() / least)
    fail_at(cursor.where(), "a list of ", count, " values does not fit the file");
  const bool kept = count <= kLongestKeptList;
  json list = json::array();
  for (uint64_t i = 0; i < count; ++i) {
    if (kept)
      list.push_back(take_scalar(cursor, type));
    else
      cursor.take_bytes(type == kString ? cursor.take<uint64_t>() : size_of(type));
  }
  return list;
}

std::string as_text(const json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// A tensor as the header lists it; `offset` counts from the start of the data.
struct Listed {
  std::string name;
  DType dtype;
  Shape shape;
  uint64_t offset;
};

Listed take_tensor(Cursor& cursor) {
  Listed listed{take_name(cursor), DType::kF32, {}, 0};
  const Subject tensor = tensor_of(cursor.where(), listed.name);
  const auto axes = cursor.take<uint32_t>();
  if (axes > kMostAxesInFile) fail_at(tensor, "has ", axes, " axes, at most ", kMostAxesInFile);
  for (uint32_t i = 0; i < axes; ++i) listed.shape.push_back(cursor.take<uint64_t>());
  std::reverse(listed.shape.begin(), listed.shape.end());  // stored fastest first
  listed.dtype = ggml_dtype(cursor.take<uint32_t>(), tensor);
  listed.offset = cursor.take<uint64_t>();
  const bool blocks = listed.dtype == DType::kQ8_0 || listed.dtype == DType::kQ4_0;
  if (blocks && (listed.shape.empty() || listed.shape.back() % kBlockLength != 0))
    fail_at(tensor, "of shape ", to_string(listed.shape), " does not fill its blocks of ",
            kBlockLength);
  return listed;
}

size_t alignment_of(const TensorFile& file, const std::string& where) {
  const auto found = file.metadata.find("general.alignment");
  if (found == file.metadata.end()) return kUsualAlignment;
  const size_t alignment = std::strtoull(found->second.c_str(), nullptr, 10);
  if (alignment == 0 || alignment > kLargestAlignment)
    fail_at(where, "general.alignment is ", found->second, ", expected 1 to ", kLargestAlignment);
  return alignment;
}

/// Tensors may have padding between them but never share bytes.
void place_tensors(std::vector<Listed> listed, std::span<const std::byte> data, size_t alignment,
                   const std::string& where, TensorFile& file) {
  std::sort(listed.begin(), listed.end(),
            [](const Listed& a, const Listed& b) { return a.offset < b.offset; });
  uint64_t free_from = 0;
  for (const auto& [name, dtype, shape, offset] : listed) {
    const Subject tensor = tensor_of(where, name);
    const size_t size = checked_bytes(tensor, dtype, shape);
    if (offset % alignment != 0)
      fail_at(tensor, "starts at byte ", offset, ", expected a multiple of ", alignment);
    if (offset < free_from) fail_at(tensor, "starts at byte ", offset, ", inside another one");
    if (offset > data.size() || size > data.size() - offset)
      fail_at(tensor, "is cut short: ", size, " bytes from ", offset, " on, the file holds ",
              data.size());
    free_from = offset + size;
    if (!file.tensors
             .emplace(name, Tensor{dtype, shape, contiguous_strides(shape), data.data() + offset})
             .second)
      fail_at(tensor, "comes twice");
  }
}

}  // namespace

bool looks_like_gguf(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && load<uint32_t>(bytes.data()) == kMagic;
}

TensorFile read_gguf(const std::filesystem::path& path) {
  const std::string where = path.string();
  auto mapped = map_file(path);
  Cursor cursor(mapped->bytes(), where);
  cursor.take<uint32_t>();
  const auto version = cursor.take<uint32_t>();
  if (version != 2 && version != 3) fail_at(where, "GGUF version ", version, ", expected 2 or 3");
  const auto tensors = cursor.take<uint64_t>(), fields = cursor.take<uint64_t>();
  if (tensors > kMostTensors) fail_at(where, tensors, " tensors, at most ", kMostTensors);
  if (fields > kMostFields) fail_at(where, fields, " fields, at most ", kMostFields);

  TensorFile file{.format = WeightFormat::kGguf, .tensors = {}, .metadata = {}, .storage = {}};
  for (uint64_t i = 0; i < fields; ++i) {
    std::string key = take_name(cursor);
    const auto type = cursor.take<uint32_t>();
    file.metadata[key] = as_text(type == kArray ? take_list(cursor) : take_scalar(cursor, type));
  }
  std::vector<Listed> listed;
  for (uint64_t i = 0; i < tensors; ++i) listed.push_back(take_tensor(cursor));

  const size_t alignment = alignment_of(file, where);
  const size_t start = round_up(cursor.at(), alignment);
  const auto data = mapped->bytes().subspan(std::min(start, mapped->bytes().size()));
  place_tensors(std::move(listed), data, alignment, where, file);
  file.storage.push_back(std::move(mapped));
  return file;
}

DType ggml_dtype(std::uint32_t type, const Subject& tensor) {
  constexpr std::pair<uint32_t, DType> kTypes[] = {
      {0, DType::kF32},  {1, DType::kF16},   {2, DType::kQ4_0}, {8, DType::kQ8_0},
      {24, DType::kI8},  {25, DType::kI16},  {26, DType::kI32}, {27, DType::kI64},
      {28, DType::kF64}, {30, DType::kBf16},
  };
  for (const auto& [known, dtype] : kTypes)
    if (known == type) return dtype;
  fail_at(tensor, "has ggml type ", type, ", expected f32, f16, bf16, q8_0 or q4_0");
}

}  // namespace vit::weights
