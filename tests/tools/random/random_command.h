/// Command lines for a model, of every subcommand that reads one.
#pragma once

#include <string>
#include <vector>

#include "tests/support/folder.h"
#include "tests/tools/random/random_model.h"

namespace vit::test {

/// Four images in two class folders, "0" and "1".
void write_random_images(const Folder& folder);

/// What to do with `model`, with outputs in `outputs` and images of write_random_images().
std::vector<std::string> random_command(const std::string& model, const ModelConfig& config,
                                        const Folder& images, const Folder& outputs, Dice& dice);

}  // namespace vit::test
