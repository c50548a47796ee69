/// ggml's files: GGUF, and the older one that vit.cpp writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "weights/formats/tensor_file.h"

namespace vit::weights {

bool looks_like_gguf(std::span<const std::byte> bytes);
/// Single values and short lists become metadata, the lists as JSON.
TensorFile read_gguf(const std::filesystem::path& path);

bool looks_like_ggml(std::span<const std::byte> bytes);
/// Seven sizes, the labels, then the tensors one after the other. Sizes and labels become metadata
/// under the names that vit.cpp gives them: "num_attention_heads", "img_size", "id2label", …
TensorFile read_ggml(const std::filesystem::path& path);

/// ggml's number for a type of numbers. Throws an Error naming the ones that are read.
DType ggml_dtype(std::uint32_t type, const Subject& tensor);

}  // namespace vit::weights
