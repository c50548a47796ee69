/// Command lines for a model, of every subcommand that reads one.
#pragma once

#include <string>
#include <vector>

#include "tests/support/folder.h"
#include "tests/tools/random/random_model.h"

namespace vit::test {

/// Four images in two class folders, "0" and "1".
void write_random_images(const Folder& folder);

struct RandomFolders {
  const Folder& images;   ///< of write_random_images()
  const Folder& outputs;  ///< for the files that commands write
};

/// What to do with `model`.
std::vector<std::string> random_command(const std::string& model, const ModelConfig& config,
                                        const RandomFolders& folders, Dice& dice);

/// What to do with the file that the command `words` wrote: an index, or rows of classes. Empty if
/// it wrote none of these.
std::vector<std::string> next_random_command(const std::vector<std::string>& words,
                                             const std::string& model, const ModelConfig& config,
                                             const RandomFolders& folders, Dice& dice);

}  // namespace vit::test
