/// From the name of a model to the checkpoint that a classifier is loaded from.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "vit/model/classifier_options.h"
#include "weights/checkpoint.h"

namespace vit {

/// Opens a model, a file or a folder, with its own classes or with those in the options. Without
/// words, the output of a two-tower model is its features, not classes. The input is the file's
/// own.
weights::Checkpoint open_checkpoint(const std::filesystem::path& model,
                                    const ClassifierOptions& options);

/// What open_checkpoint() does to an open file.
void set_classes(weights::Checkpoint& checkpoint, const ClassifierOptions& options);

/// Makes the recipe and the configuration those of an image size, 0: of the recipe's own; positions
/// are resampled when the weights are loaded, as `positions` says or as they usually are. The
/// recipe decides the input, not the stored positions: DINOv2's classifiers run at 224 on a table
/// made for 518. Throws UnfitImageSize if a chosen size is no multiple of the patch; a file's own
/// may leave a remainder.
void set_input(weights::Checkpoint& checkpoint, size_t height = 0, size_t width = 0,
               std::optional<PositionResampling> positions = {});

/// "deit_tiny_patch16_224", or the file name where the checkpoint has no name.
std::string name_of(const weights::Checkpoint& checkpoint);

}  // namespace vit
