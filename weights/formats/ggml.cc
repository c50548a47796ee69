#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "weights/formats/cursor.h"
#include "weights/formats/gguf.h"
#include "weights/formats/mapped_file.h"

namespace vit::weights {
namespace {

using std::int32_t;

constexpr std::uint32_t kMagic = 0x67676d6c;  // "ggml"
constexpr int32_t kMostLabels = 100'000, kLongestLabel = 4096;

constexpr const char* kSizes[] = {"hidden_size", "num_hidden_layers", "num_attention_heads",
                                  "num_classes", "patch_size",        "img_size",
                                  "ftype"};

/// A count that must lie between 0 and `most`.
size_t take_count(Cursor& cursor, int32_t most, const char* what) {
  const auto count = cursor.take<int32_t>();
  if (count < 0 || count > most)
    fail_at(cursor.where(), count, " ", what, " at byte ", cursor.at() - sizeof count, ", at most ",
            most);
  return static_cast<size_t>(count);
}

std::string take_labels(Cursor& cursor) {
  nlohmann::json labels = nlohmann::json::object();
  const size_t count = take_count(cursor, kMostLabels, "labels");
  for (size_t i = 0; i < count; ++i) {
    const auto key = cursor.take<int32_t>();
    labels[std::to_string(key)] =
        cursor.take_string(take_count(cursor, kLongestLabel, "bytes of a label"));
  }
  return labels.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void take_tensor(Cursor& cursor, TensorFile& file) {
  const size_t axes = take_count(cursor, 4, "axes");
  const size_t length = take_count(cursor, 1024, "bytes of a name");
  const auto type = cursor.take<std::uint32_t>();
  Shape shape(axes);
  for (size_t i = axes; i-- > 0;)  // stored fastest first
    shape[i] = take_count(cursor, std::numeric_limits<int32_t>::max(), "entries");
  const std::string name = cursor.take_string(length);
  const Subject tensor = tensor_of(cursor.where(), name);
  const DType dtype = ggml_dtype(type, tensor);
  const size_t size = checked_bytes(tensor, dtype, shape);
  if (size > cursor.left())
    fail_at(tensor, "is cut short: ", size, " bytes, the file holds ", cursor.left());
  if (file.tensors.size() >= kMostTensors)
    fail_at(cursor.where(), "more than ", kMostTensors, " tensors");
  auto strides = contiguous_strides(shape);
  const std::byte* data = cursor.take_bytes(size).data();
  if (!file.tensors.emplace(name, Tensor{dtype, std::move(shape), std::move(strides), data}).second)
    fail_at(tensor, "comes twice");
}

}  // namespace

bool looks_like_ggml(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && load<std::uint32_t>(bytes.data()) == kMagic;
}

TensorFile read_ggml(const std::filesystem::path& path) {
  const std::string where = path.string();
  auto mapped = map_file(path);
  Cursor cursor(mapped->bytes(), where);
  cursor.take<std::uint32_t>();
  TensorFile file{.format = WeightFormat::kGgml, .tensors = {}, .metadata = {}, .storage = {}};
  for (const auto* name : kSizes) file.metadata[name] = std::to_string(cursor.take<int32_t>());
  file.metadata["id2label"] = take_labels(cursor);
  while (cursor.left() != 0) take_tensor(cursor, file);
  file.storage.push_back(std::move(mapped));
  return file;
}

}  // namespace vit::weights
