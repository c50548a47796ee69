#include "weights/save.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "vit/base/atomic_file.h"
#include "vit/base/error.h"
#include "vit/base/int8.h"
#include "weights/configs/self_description.h"
#include "weights/finite.h"
#include "weights/formats/safetensors.h"
#include "weights/numbers.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

constexpr size_t kAlignment = 64;           // a cache line; where the numbers begin
constexpr size_t kPieceElements = 1 << 18;  // 1 MB of floats at a time

/// One tensor on its way to the file.
struct Entry {
  std::string name;
  std::string of;  ///< the weight's own name
  const Weight* weight;
  DType dtype;
  bool scales = false;  ///< not the weight itself but its scales in 8 bits, one per row

  Shape shape() const { return scales ? Shape{weight->rows()} : weight->shape(); }
  size_t bytes() const { return byte_count(dtype, element_count(shape())); }
};

/// Kernels hold nearly all numbers of a model. In int8 only those of the blocks run.
bool is_stored_in(DType dtype, const TensorSpec& spec) {
  return spec.role == TensorRole::kKernel &&
         (dtype != DType::kI8 || spec.part == TensorPart::kBlock);
}

std::vector<Entry> entries_of(const ModelCard& card, const WeightMap& weights, DType dtype,
                              const std::string& where) {
  check_tensors(card.config, weights, where);
  std::vector<Entry> entries;
  size_t known = 0;
  for_each_tensor(card.config, [&](const TensorSpec& spec) {
    const auto found = weights.find(spec.name);
    if (found == weights.end()) return;
    const Weight& weight = found->second;
    const bool chosen = is_stored_in(dtype, spec);
    entries.push_back({spec.name, spec.name, &weight, chosen ? dtype : DType::kF32});
    if (chosen && dtype == DType::kI8)
      entries.push_back(
          {spec.name + std::string(kScaleSuffix), spec.name, &weight, DType::kF32, true});
    ++known;
  });
  if (known != weights.size())
    for (const auto& [name, weight] : weights)
      if (std::ranges::find(entries, name, &Entry::name) == entries.end())
        fail_at(where, "tensor '", name, "' is none of the model's");
  std::stable_partition(entries.begin(), entries.end(),
                        [](const Entry& entry) { return entry.dtype == DType::kF32; });
  return entries;
}

/// Length, JSON, and blanks up to the alignment.
std::string header_of(const std::vector<Entry>& entries, const Metadata& metadata) {
  nlohmann::ordered_json header;
  header["__metadata__"] = metadata;
  size_t at = 0;
  for (const auto& entry : entries) {
    const size_t end = at + entry.bytes();
    header[entry.name] = {{"dtype", safetensors_name(entry.dtype)},
                          {"shape", entry.shape()},
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

/// A number that becomes infinite would silently break the model.
void check_range(std::span<const float> numbers, const std::vector<std::uint16_t>& halves,
                 const Entry& entry, const std::string& where) {
  constexpr std::uint16_t kMagnitude = 0x7fff;
  const std::uint16_t infinity = entry.dtype == DType::kF16 ? 0x7c00 : 0x7f80;
  for (size_t i = 0; i < numbers.size(); ++i)
    if ((halves[i] & kMagnitude) == infinity)
      fail_at(where, "tensor '", entry.name, "' holds ", numbers[i], ", more than ",
              to_string(entry.dtype), " can; save it as ",
              entry.dtype == DType::kF16 ? "bf16 or f32" : "f32");
}

class TensorWriter {
 public:
  TensorWriter(AtomicFile& file, std::string where) : file_(file), where_(std::move(where)) {}

  void write(const Entry& entry) {
    const size_t cols = entry.weight->cols(), rows = entry.weight->rows();
    if (cols == 0 || rows == 0) return;
    if (entry.scales || entry.dtype == DType::kI8) return write_int8(entry);
    const size_t step = std::max<size_t>(1, kPieceElements / cols);
    for (size_t row = 0; row < rows; row += step) {
      const size_t count = std::min(step, rows - row);
      floats_.resize(count * cols);
      entry.weight->read_rows(row, count, floats_.data());
      check_finite(*entry.weight, row, floats_, {where_, entry.name});
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

  /// The integers of an entry, or their scales.
  void write_int8(const Entry& entry) {
    const Weight& weight = *entry.weight;
    std::vector<float> scales(weight.rows());
    integers_.resize(weight.cols());
    for (size_t row = 0; row < weight.rows(); ++row) {
      scales[row] = int8_row(entry, row);
      if (!std::isfinite(scales[row]))
        fail_at(where_, "tensor '", entry.of, "' has a scale of ", scales[row],
                ", expected a finite number");
      if (!entry.scales) file_.write(std::as_bytes(std::span(integers_)));
    }
    if (entry.scales) file_.write(std::as_bytes(std::span(scales)));
  }

  /// Integers that are there already stay what they are.
  float int8_row(const Entry& entry, size_t row) {
    const Weight& weight = *entry.weight;
    if (weight.is_int8()) return weight.read_int8_row(row, integers_.data());
    floats_.resize(weight.cols());
    weight.read_rows(row, 1, floats_.data());
    check_finite(weight, row, floats_, {where_, entry.of});
    return quantize_weights(floats_, integers_.data());
  }

  AtomicFile& file_;
  std::string where_;
  std::vector<float> floats_;
  std::vector<std::int8_t> integers_;
  std::vector<std::uint16_t> halves_;
};

Metadata metadata_of(const ModelCard& card, const Metadata& more, const std::string& where) {
  Metadata metadata = self_description(card);
  for (const auto& [name, text] : more)
    if (!metadata.emplace(name, text).second)
      fail_at(where, "metadata '", name, "' belongs to the format, choose another name");
  return metadata;
}

}  // namespace

void save(const std::filesystem::path& path, const ModelCard& card, const WeightMap& weights,
          const SaveOptions& options) {
  assert(options.dtype == DType::kF32 || options.dtype == DType::kF16 ||
         options.dtype == DType::kBf16 || options.dtype == DType::kI8);
  const std::string where = path.string();
  validate(card.config, where);
  if (!card.labels.empty() && card.labels.size() != card.config.head.classes)
    fail_at(where, card.labels.size(), " labels for ", card.config.head.classes, " classes");
  if (!card.wordnet_ids.empty() && card.wordnet_ids.size() != card.config.head.classes)
    fail_at(where, card.wordnet_ids.size(), " WordNet ids for ", card.config.head.classes,
            " classes");
  const std::vector<Entry> entries = entries_of(card, weights, options.dtype, where);
  const std::string header = header_of(entries, metadata_of(card, options.metadata, where));

  size_t size = header.size();
  for (const auto& entry : entries) size += entry.bytes();
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
  save(path, checkpoint, checkpoint.weights(), all);
}

DType lossless_dtype(const Checkpoint& checkpoint) {
  std::set<DType> of_kernels;
  bool int8 = false, other = false;
  for_each_tensor(checkpoint.config, [&](const TensorSpec& spec) {
    const Weight* weight = checkpoint.find(spec.name);
    if (weight == nullptr || spec.role != TensorRole::kKernel) return;
    for (const auto& part : weight->parts()) of_kernels.insert(part.dtype);
    if (is_stored_in(DType::kI8, spec)) (weight->is_int8() ? int8 : other) = true;
  });
  if (int8 && !other) return DType::kI8;
  const bool half = of_kernels.size() == 1 &&
                    (of_kernels.contains(DType::kF16) || of_kernels.contains(DType::kBf16));
  return half ? *of_kernels.begin() : DType::kF32;
}

}  // namespace vit::weights
