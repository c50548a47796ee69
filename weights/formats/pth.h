/// What torch.save writes: a pickle and, beside it, the storages its tensors view.
#pragma once

#include <filesystem>
#include <span>

#include "weights/formats/tensor_file.h"
#include "weights/formats/zip.h"

namespace vit::weights {

/// Since PyTorch 1.6: a ZIP archive of data.pkl and one entry per storage.
bool looks_like_pth(const ZipArchive& archive);
TensorFile read_pth(ZipArchive archive);

/// Before: pickles and storages one after the other.
bool looks_like_legacy_pth(std::span<const std::byte> bytes);
TensorFile read_legacy_pth(const std::filesystem::path& path);

}  // namespace vit::weights
