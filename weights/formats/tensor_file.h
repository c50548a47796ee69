/// What every format reader makes of a file: raw names and the numbers behind them, no more.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vit/base/error.h"
#include "weights/storage.h"
#include "weights/tensor.h"
#include "weights/weight_format.h"

namespace vit::weights {

using TensorMap = std::map<std::string, Tensor, std::less<>>;
using Metadata = std::map<std::string, std::string, std::less<>>;

struct TensorFile {
  WeightFormat format = WeightFormat::kSafetensors;
  TensorMap tensors;
  Metadata metadata;
  /// Keeps alive what the tensors view.
  std::vector<Storage> storage;
};

/// No Vision Transformer has more; a file that says so is broken or wants our memory.
inline constexpr size_t kMostTensors = 100'000;
/// Of a shape or of a nested structure.
inline constexpr size_t kMostAxes = 8;

/// Reads any format, told by the file's first bytes and not by its name.
TensorFile read_tensor_file(const std::filesystem::path& path);

/// For errors about a tensor of a file.
inline Subject tensor_of(const std::string& file, const std::string& name) {
  return {file, "tensor '" + name + "'"};
}

/// The product of a shape times the size of its elements, or a failure that names the tensor.
size_t checked_bytes(const Subject& tensor, DType dtype, const Shape& shape);

}  // namespace vit::weights
