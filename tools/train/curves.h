/// The log of a training run: a table and a picture.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/draw/canvas.h"
#include "vit/train/trainer.h"

namespace vit::tools {

void write_log(const std::filesystem::path& path, const std::vector<train::EpochRow>& history);
/// Loss, accuracy and learning rate over the epochs, side by side.
Picture curves_picture(const std::string& title, const std::vector<train::EpochRow>& history);

}  // namespace vit::tools
