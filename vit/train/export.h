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
  std::map<std::string, std::string> notes{};  ///< how it was trained, kept in the file
};

/// What a model needs besides its numbers.
struct Identity {
  Recipe recipe;
  std::vector<std::string> labels;
};

void export_model(const std::filesystem::path& path, const gradient::NetworkView<float>& network,
                  const Identity& identity, const ExportOptions& options = {});

/// The same in memory, for the fast inference model. Views the network's numbers: keep it alive.
weights::Checkpoint as_checkpoint(const gradient::NetworkView<float>& network,
                                  const Identity& identity);

}  // namespace vit::train
