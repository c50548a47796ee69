#include "weights/formats/safetensors.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "vit/base/error.h"
#include "weights/configs/json.h"
#include "weights/formats/mapped_file.h"
#include "weights/numbers.h"

namespace vit::weights {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
// The format allows ten times as much, but a ViT's header has some 30 kB, and reading 100 MB of
// hostile JSON takes seconds.
constexpr size_t kLargestHeader = 10'000'000;
constexpr size_t kLongestName = 1000, kLongestQuote = 100;
constexpr std::string_view kMetadata = "__metadata__";

struct Entry {
  std::optional<std::string> dtype;
  std::optional<Shape> shape;
  std::optional<std::vector<size_t>> offsets;
};

/// Reads the header event by event: a hostile one of 100 MB never becomes a tree in memory, and
/// a name that comes twice is seen (a tree would silently keep one of them).
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  std::map<std::string, Entry, std::less<>> entries;
  std::map<std::string, std::string, std::less<>> metadata;
  std::string problem;

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("a truth value"); }
  bool number_integer(json::number_integer_t) { return unexpected("a negative number"); }
  bool number_float(json::number_float_t, const json::string_t&) {
    return unexpected("a fraction");
  }
  bool binary(json::binary_t&) { return unexpected("binary data"); }

  bool number_unsigned(json::number_unsigned_t value) {
    if (numbers_ == nullptr) return unexpected("a number");
    if (numbers_->size() >= kMostAxes) return stop("has too many axes");
    numbers_->push_back(value);
    return true;
  }

  bool string(json::string_t& value) {
    if (depth_ != 2 || numbers_ != nullptr) return unexpected("a string");
    if (tensor_ == kMetadata) {
      if (metadata.size() >= kMostTensors) return stop("is one of too many");
      if (!metadata.emplace(field_, std::move(value)).second) return stop("comes twice");
    } else if (field_ == "dtype" && !entry_->dtype) {
      entry_->dtype = std::move(value);
    } else {
      return stop("is not understood");
    }
    return true;
  }

  bool start_object(std::size_t) {
    if (depth_ >= 2 || numbers_ != nullptr) return unexpected("an object");
    ++depth_;
    return true;
  }

  bool end_object() {
    --depth_;
    field_.clear();
    return true;
  }

  bool key(json::string_t& name) {
    if (depth_ == 2) {
      field_ = std::move(name);
      return true;
    }
    tensor_ = std::move(name);
    if (tensor_ == kMetadata) return !std::exchange(has_metadata_, true) || stop("comes twice");
    if (tensor_.size() > kLongestName)
      return stop("has a name of " + std::to_string(tensor_.size()) + " bytes");
    if (entries.size() >= kMostTensors)
      return stop("is one of more than " + std::to_string(kMostTensors) + " tensors");
    const auto [entry, is_new] = entries.try_emplace(tensor_);
    entry_ = &entry->second;
    return is_new || stop("comes twice");
  }

  bool start_array(std::size_t) {
    if (depth_ != 2 || numbers_ != nullptr || tensor_ == kMetadata) return unexpected("a list");
    if (field_ == "shape" && !entry_->shape)
      numbers_ = &entry_->shape.emplace();
    else if (field_ == "data_offsets" && !entry_->offsets)
      numbers_ = &entry_->offsets.emplace();
    else
      return stop("is not understood");
    return true;
  }

  bool end_array() {
    numbers_ = nullptr;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const json::exception& error) {
    problem = describe_json_error(text_, byte, error);
    return false;
  }

 private:
  bool unexpected(std::string_view what) { return stop("is " + std::string(what)); }
  bool stop(const std::string& what) {
    const std::string name = tensor_ + (field_.empty() ? "" : "." + field_);
    problem = "entry '" + name.substr(0, kLongestQuote) + "' " + what;
    return false;
  }

  std::string_view text_;
  std::size_t depth_ = 0;
  std::string tensor_;
  std::string field_;
  Entry* entry_ = nullptr;
  std::vector<size_t>* numbers_ = nullptr;
  bool has_metadata_ = false;
};

/// As the format calls them: in capitals, unlike enum_names(DType).
constexpr std::pair<std::string_view, DType> kDTypeNames[] = {
    {"F64", DType::kF64},   {"F32", DType::kF32}, {"F16", DType::kF16}, {"BF16", DType::kBf16},
    {"I64", DType::kI64},   {"I32", DType::kI32}, {"I16", DType::kI16}, {"I8", DType::kI8},
    {"BOOL", DType::kBool}, {"U8", DType::kU8},
};

DType dtype_named(const Subject& tensor, std::string_view name) {
  for (const auto& [known, dtype] : kDTypeNames)
    if (known == name) return dtype;
  fail_at(tensor, "has dtype ", name,
          ", expected one of F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL");
}

struct Span {
  size_t begin;
  size_t end;
  const std::string* name;
  bool operator<(const Span& other) const {
    return std::pair(begin, end) < std::pair(other.begin, other.end);
  }
};

Tensor make_tensor(const Subject& tensor, const Entry& entry, const std::byte* data) {
  if (!entry.dtype) fail_at(tensor, "has no dtype");
  if (!entry.shape) fail_at(tensor, "has no shape");
  if (!entry.offsets || entry.offsets->size() != 2) fail_at(tensor, "has no pair of data_offsets");
  const size_t begin = entry.offsets->front(), end = entry.offsets->back();
  const DType dtype = dtype_named(tensor, *entry.dtype);
  const size_t expected = checked_bytes(tensor, dtype, *entry.shape);
  if (begin > end || end - begin != expected)
    fail_at(tensor, "has data_offsets [", begin, ", ", end, "], expected ", expected,
            " bytes for shape ", to_string(*entry.shape));
  return {dtype, *entry.shape, contiguous_strides(*entry.shape), data + begin};
}

/// Gap, overlap, bytes left over or missing: all break the tiling.
void check_tiling(const std::string& where, std::vector<Span> spans, size_t size) {
  std::sort(spans.begin(), spans.end());
  size_t at = 0;
  for (const auto& span : spans) {
    if (span.begin != at)
      fail_at(where, "tensor '", *span.name, "' starts at byte ", span.begin, " of the data, ",
              span.begin < at ? "inside another one, " : "after a gap, ", "expected ", at);
    at = span.end;
  }
  if (at > size)
    fail_at(where, "cut short: the tensors need ", at, " bytes, the file holds ", size);
  if (at < size) fail_at(where, size - at, " bytes follow the last tensor");
}

std::string_view header_of(const std::string& where, std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes)
    fail_at(where, "cut short: ", bytes.size(), " bytes are not a safetensors file");
  const auto length = load<std::uint64_t>(bytes.data());
  if (length > kLargestHeader)
    fail_at(where, "header of ", length, " bytes, at most ", kLargestHeader);
  if (length > bytes.size() - kLengthBytes)
    fail_at(where, "cut short: the header needs ", length, " bytes, the file holds ",
            bytes.size() - kLengthBytes);
  return {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length};
}

TensorFile read_one(const std::filesystem::path& path) {
  const std::string where = path.string();
  auto file = map_file(path);
  const std::string_view header = header_of(where, file->bytes());
  HeaderReader reader(header);
  if (header.find('{') != header.find_first_not_of(" \t\r\n"))
    fail_at(where, "the header is not a JSON object");
  if (!json::sax_parse(header.begin(), header.end(), &reader))
    fail_at(where, "header ", reader.problem);

  const auto data = file->bytes().subspan(kLengthBytes + header.size());
  TensorFile result{
      .format = WeightFormat::kSafetensors, .tensors = {}, .metadata = {}, .storage = {}};
  std::vector<Span> spans;
  for (const auto& [name, entry] : reader.entries) {
    const Tensor tensor = make_tensor(tensor_of(where, name), entry, data.data());
    spans.push_back({entry.offsets->front(), entry.offsets->back(), &name});
    result.tensors.emplace(name, tensor);
  }
  check_tiling(where, std::move(spans), data.size());
  result.metadata = std::move(reader.metadata);
  result.storage.push_back(std::move(file));
  return result;
}

}  // namespace

std::string_view safetensors_name(DType dtype) {
  for (const auto& [name, known] : kDTypeNames)
    if (known == dtype) return name;
  assert(false && "a format that safetensors does not have");
  return "?";
}

bool looks_like_safetensors(std::span<const std::byte> bytes) {
  if (bytes.size() <= kLengthBytes) return false;
  const auto length = load<std::uint64_t>(bytes.data());
  return length <= std::numeric_limits<std::uint32_t>::max() &&
         (bytes[kLengthBytes] == std::byte{'{'} || bytes[kLengthBytes] == std::byte{' '});
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  return read_one(path);
}

TensorFile read_sharded_safetensors(const std::filesystem::path& index) {
  const std::string where = index.string();
  const json content = read_json(index);
  const auto names = content.find("weight_map");
  if (names == content.end() || !names->is_object()) fail_at(where, "has no weight_map");

  std::map<std::string, TensorFile> shards;
  TensorFile result{
      .format = WeightFormat::kShardedSafetensors, .tensors = {}, .metadata = {}, .storage = {}};
  for (const auto& [name, shard] : names->items()) {
    if (!shard.is_string()) fail_at(where, "the file of '", name, "' is not a string");
    const std::filesystem::path file = shard.get<std::string>();
    if (file.has_parent_path() || file == "..")  // an index must not reach out of its folder
      fail_at(where, "shard '", file.string(), "' is not a file beside the index");
    auto found = shards.find(file.string());
    if (found == shards.end())
      found = shards.emplace(file.string(), read_one(index.parent_path() / file)).first;
    const auto tensor = found->second.tensors.find(name);
    if (tensor == found->second.tensors.end())
      fail_at(where, "tensor '", name, "' is not in ", file.string());
    result.tensors.insert(*tensor);
  }
  for (auto& [name, shard] : shards)
    for (auto& kept : shard.storage) result.storage.push_back(std::move(kept));
  return result;
}

}  // namespace vit::weights
