/// A trained network as a model file that every other command reads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "vit/base/recipe.h"
#include "vit/gradient/network.h"
#include "weights/tensor.h"

namespace vit::train {

struct ExportOptions {
  weights::DType dtype = weights::DType::kF32;
  std::vector<std::string> wordnet_ids{};      ///< of the classes, or empty
  std::map<std::string, std::string> notes{};  ///< how it was trained, kept in the file
};

void export_model(const std::filesystem::path& path, const gradient::NetworkView<float>& network,
                  const Recipe& recipe, const std::vector<std::string>& labels,
                  const ExportOptions& options = {});

/// The same in memory, for the fast inference model. Views the network's numbers: keep it alive.
weights::Checkpoint as_checkpoint(const gradient::NetworkView<float>& network, const Recipe& recipe,
                                  const std::vector<std::string>& labels);

}  // namespace vit::train
