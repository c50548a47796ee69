/// NumPy's .npz: a ZIP of .npy arrays.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "weights/formats/tensor_file.h"
#include "weights/formats/zip.h"

namespace vit::weights {

bool looks_like_npz(const ZipArchive& archive);

TensorFile read_npz(ZipArchive archive);

/// One array, which errors name; the tensor views `bytes`.
Tensor read_npy(std::span<const std::byte> bytes, const Subject& array);

}  // namespace vit::weights
