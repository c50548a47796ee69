/// One self-contained file: safetensors under canonical names, with config, recipe and labels in
/// its metadata (weights/configs/self_description.h names the entries).
#pragma once

#include <filesystem>

#include "weights/checkpoint.h"
#include "weights/formats/tensor_file.h"
#include "weights/layouts/rules.h"
#include "weights/model_card.h"

namespace vit::weights {

struct SaveOptions {
  /// kF32, kF16 or kBf16, rounded to nearest even. This is the format of the kernels of matrix
  /// products; tokens, positions, norms, biases and scales stay f32: together they are below one
  /// percent of a model, and rounding them costs accuracy for nothing. kI8: the blocks' kernels as
  /// the integers that they run in, "X.weight", each with a scale per output, "X.weight_scale"; all
  /// else f32.
  DType dtype = DType::kF32;
  /// Entries besides our own: a training run's log, say. Kept when the file is read and saved
  /// again.
  Metadata metadata{};
};

/// Writes the tensors of tensors_of(card.config), f32 before half, each group in the order of
/// the forward pass. Equal input gives equal bytes. The numbers are converted a piece at a time;
/// views of any memory will do as weights. The file appears whole or not at all: it is written
/// beside its place, synced and renamed. Throws an Error naming the file, and the tensor that is
/// missing, unknown or too large for the format.
void save(const std::filesystem::path& path, const ModelCard& card, const WeightMap& weights,
          const SaveOptions& options = {});

/// A checkpoint as it was opened.
void save(const std::filesystem::path& path, const Checkpoint& checkpoint,
          const SaveOptions& options = {});

/// The format that loses nothing: f16 or bf16 where all kernels of matrix products have it, i8
/// where all of the blocks' have, else f32.
DType lossless_dtype(const Checkpoint& checkpoint);

}  // namespace vit::weights
