/// Checkpoint to model.
#pragma once

#include <optional>

#include "vit/base/precision.h"
#include "vit/model/model.h"
#include "weights/checkpoint.h"

namespace vit {

struct LoadOptions {
  /// Of the blocks' linear layers; unset: 8 bits where they are stored so. Patch projection,
  /// attention, norms and classifier stay in float.
  std::optional<Precision> precision{};
  /// Of a model to read features from: what it reads instead of the checkpoint's own head, out of
  /// the same tensors.
  std::optional<HeadConfig> head{};
  /// That the model is packed for and runs on.
  Isa isa = active_isa();
  size_t most_tokens = kMostTokens;  ///< a model of more is refused
};

/// For the input of the checkpoint's configuration; set_input() (vit/model/open.h) chooses another.
/// Reads, converts and packs every weight once. The model does not need the checkpoint
/// afterwards. Throws an Error naming the tensor if a number is not finite.
Model load_model(const weights::Checkpoint& checkpoint, const LoadOptions& options = {});

/// The table of positions as patch::positions_for() takes it; empty where the model has none.
Matrix stored_positions(const weights::Checkpoint& checkpoint);

}  // namespace vit
