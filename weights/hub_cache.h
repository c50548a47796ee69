/// Models in the cache of Hugging Face's own programs, and what makes a folder a model.
///
///   $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else
///   ~/.cache/huggingface/hub
///     models--OWNER--NAME/refs/REVISION       the commit of a branch or tag
///     models--OWNER--NAME/snapshots/COMMIT/   config.json, model.safetensors, …
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vit::weights {

/// Whether the folder has the weights of one model, all shards of them, and no unfinished download.
bool holds_model(const std::filesystem::path& folder);

/// The folder of a downloaded model. None where the weights or the configuration is missing:
/// without the latter the preprocessing would be a guess.
std::optional<std::filesystem::path> find_in_hub_cache(const std::string& hub,
                                                       const std::string& revision);

/// The repositories that the cache knows, complete or not: "google/vit-base-patch16-224".
std::vector<std::string> hub_cache_repositories();

}  // namespace vit::weights
