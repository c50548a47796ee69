/// The log of a training run: a table and a picture.
#pragma once

#include <filesystem>
#include <vector>

#include "vit/train/trainer.h"

namespace vit::tools {

void write_log(const std::filesystem::path& path, const std::vector<train::EpochRow>& history);
/// Loss and accuracy over the epochs, training and validation, side by side.
void draw_curves(const std::filesystem::path& path, const std::vector<train::EpochRow>& history);

}  // namespace vit::tools
