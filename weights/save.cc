#include "weights/save.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "vit/base/error.h"
#include "weights/atomic_file.h"
#include "weights/configs/self_description.h"
#include "weights/demand.h"
#include "weights/numbers.h"

namespace vit::weights {
namespace {

constexpr size_t kAlignment = 64;           // a cache line; where the numbers begin
constexpr size_t kPieceElements = 1 << 18;  // 1 MB of floats at a time

/// One tensor on its way to the file.
struct Entry {
  std::string name;
  const Weight* weight;
  DType dtype;
};

/// Kernels are what matrix products read row by row: all but their numbers is small.
bool is_kernel(std::string_view name, const Weight& weight) {
  return name.ends_with(".weight") && weight.shape().size() >= 2;
}

std::vector<Entry> entries_of(const ModelCard& card, const WeightMap& weights, DType dtype,
                              const std::string& where) {
  const std::vector<Demand> list = demands(card.config);
  check_demands(list, weights, where);
  std::vector<Entry> entries;
  for (const auto& demand : list) {
    const auto found = weights.find(demand.name);
    if (found == weights.end()) continue;
    const bool kernel = is_kernel(demand.name, found->second);
    entries.push_back({demand.name, &found->second, kernel ? dtype : DType::kF32});
  }
  if (entries.size() != weights.size())
    for (const auto& [name, weight] : weights)
      if (std::ranges::find(entries, name, &Entry::name) == entries.end())
        fail(where, ": tensor '", name, "' is none of the model's");
  std::stable_partition(entries.begin(), entries.end(),
                        [](const Entry& entry) { return entry.dtype == DType::kF32; });
  return entries;
}

std::string_view safetensors_name(DType dtype) {
  return dtype == DType::kF32 ? "F32" : dtype == DType::kF16 ? "F16" : "BF16";
}

/// Length, JSON, and blanks up to the alignment.
std::string header_of(const std::vector<Entry>& entries, const Metadata& metadata) {
  nlohmann::ordered_json header;
  header["__metadata__"] = metadata;
  size_t at = 0;
  for (const auto& entry : entries) {
    const size_t end = at + byte_count(entry.dtype, entry.weight->size());
    header[entry.name] = {{"dtype", safetensors_name(entry.dtype)},
                          {"shape", entry.weight->shape()},
                          {"data_offsets", {at, end}}};
    at = end;
  }
  using Handler = nlohmann::ordered_json::error_handler_t;
  std::string text = header.dump(-1, ' ', false, Handler::replace);
  std::uint64_t length = 0;
  while ((text.size() + sizeof length) % kAlignment != 0) text += ' ';
  length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

void to_half(std::span<const float> from, DType dtype, std::vector<std::uint16_t>& to) {
  to.resize(from.size());
  std::ranges::transform(from, to.begin(), dtype == DType::kF16 ? f16_of_float : bf16_of_float);
}

/// A finite number that becomes infinite would silently break the model.
void check_range(std::span<const float> numbers, const std::vector<std::uint16_t>& halves,
                 const Entry& entry, const std::string& where) {
  constexpr std::uint16_t kMagnitude = 0x7fff;
  const std::uint16_t infinity = entry.dtype == DType::kF16 ? 0x7c00 : 0x7f80;
  for (size_t i = 0; i < numbers.size(); ++i)
    if ((halves[i] & kMagnitude) == infinity && std::isfinite(numbers[i]))
      fail(where, ": tensor '", entry.name, "' holds ", numbers[i], ", more than ",
           to_string(entry.dtype), " can; save it as ",
           entry.dtype == DType::kF16 ? "bf16 or f32" : "f32");
}

class TensorWriter {
 public:
  TensorWriter(AtomicFile& file, std::string where) : file_(file), where_(std::move(where)) {}

  void write(const Entry& entry) {
    const size_t cols = entry.weight->cols(), rows = entry.weight->rows();
    if (cols == 0 || rows == 0) return;
    const size_t step = std::max<size_t>(1, kPieceElements / cols);
    for (size_t row = 0; row < rows; row += step) {
      const size_t count = std::min(step, rows - row);
      floats_.resize(count * cols);
      entry.weight->read_rows(row, count, floats_.data());
      write_piece(entry);
    }
  }

 private:
  void write_piece(const Entry& entry) {
    if (entry.dtype == DType::kF32) return file_.write(std::as_bytes(std::span(floats_)));
    to_half(floats_, entry.dtype, halves_);
    check_range(floats_, halves_, entry, where_);
    file_.write(std::as_bytes(std::span(halves_)));
  }

  AtomicFile& file_;
  std::string where_;
  std::vector<float> floats_;
  std::vector<std::uint16_t> halves_;
};

Metadata metadata_of(const ModelCard& card, const Metadata& more, const std::string& where) {
  Metadata metadata = self_description({card.config, card.recipe, card.labels, card.assumptions});
  for (const auto& [name, text] : more)
    if (!metadata.emplace(name, text).second)
      fail(where, ": metadata '", name, "' belongs to the format, choose another name");
  return metadata;
}

}  // namespace

void save(const std::filesystem::path& path, const ModelCard& card, const WeightMap& weights,
          const SaveOptions& options) {
  assert(options.dtype == DType::kF32 || options.dtype == DType::kF16 ||
         options.dtype == DType::kBf16);
  const std::string where = path.string();
  validate(card.config, where);
  if (!card.labels.empty() && card.labels.size() != card.config.classes)
    fail(where, ": ", card.labels.size(), " labels for ", card.config.classes, " classes");
  const std::vector<Entry> entries = entries_of(card, weights, options.dtype, where);
  const std::string header = header_of(entries, metadata_of(card, options.metadata, where));

  size_t size = header.size();
  for (const auto& entry : entries) size += byte_count(entry.dtype, entry.weight->size());
  AtomicFile file(path);
  file.reserve(size);
  file.write(std::as_bytes(std::span(header)));
  TensorWriter writer(file, where);
  for (const auto& entry : entries) writer.write(entry);
  file.commit();
}

void save(const std::filesystem::path& path, const Checkpoint& checkpoint,
          const SaveOptions& options) {
  SaveOptions all = options;
  all.metadata.insert(checkpoint.metadata.begin(), checkpoint.metadata.end());
  save(path, {checkpoint.config, checkpoint.recipe, checkpoint.labels, checkpoint.assumptions},
       checkpoint.weights(), all);
}

DType lossless_dtype(const Checkpoint& checkpoint) {
  std::optional<DType> common;
  for (const auto& [name, weight] : checkpoint.weights()) {
    if (!is_kernel(name, weight)) continue;
    for (const auto& part : weight.parts()) {
      if (common && *common != part.dtype) return DType::kF32;
      common = part.dtype;
    }
  }
  return common == DType::kF16 || common == DType::kBf16 ? *common : DType::kF32;
}

}  // namespace vit::weights
