/// safetensors: 8 bytes of header length, a JSON header, the numbers. Read in place.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "weights/formats/tensor_file.h"

namespace vit::weights {

/// "BF16": a number format as headers name it, of those that the format has.
std::string_view safetensors_name(DType dtype);

bool looks_like_safetensors(std::span<const std::byte> bytes);

/// Every rule of the format is checked: the tensors tile the data without gap or overlap.
TensorFile read_safetensors(const std::filesystem::path& path);

/// One model in several files, listed in `model.safetensors.index.json`.
TensorFile read_sharded_safetensors(const std::filesystem::path& index);

}  // namespace vit::weights
