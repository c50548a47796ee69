#include "weights/locate.h"

#include <algorithm>
#include <string>
#include <vector>

#include "vit/base/error.h"
#include "weights/configs/json.h"

namespace vit::weights {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtensions[] = {".safetensors", ".pth",  ".pt",   ".bin",
                                       ".npz",         ".gguf", ".ckpt", ".onnx"};

/// Repositories of timm may hold a model of two towers beside its bare image tower. Their
/// config.json is timm's, which has no model_type.
bool is_of_timm_and_open_clip(const fs::path& folder) {
  if (!fs::is_regular_file(folder / kOpenClipConfigName)) return false;
  if (!fs::is_regular_file(folder / kConfigName)) return true;
  const nlohmann::json config = read_json(folder / kConfigName);
  return !config.contains("model_type");
}

fs::path weights_in(const fs::path& folder) {
  const bool prefers_two_towers = is_of_timm_and_open_clip(folder);
  for (const auto* name : kWeightNames)
    if (prefers_two_towers && std::string_view(name).starts_with(kOpenClipFiles) &&
        fs::is_regular_file(folder / name))
      return folder / name;
  for (const auto* name : kWeightNames)
    if (fs::is_regular_file(folder / name)) return folder / name;

  std::vector<std::string> candidates;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string extension = entry.path().extension().string();
    if (std::find(std::begin(kExtensions), std::end(kExtensions), extension) !=
        std::end(kExtensions))
      candidates.push_back(entry.path().filename().string());
  }
  std::sort(candidates.begin(), candidates.end());
  if (candidates.size() == 1) return folder / candidates.front();
  if (candidates.empty())
    fail_at(folder.string(),
            "holds no weights, expected model.safetensors, pytorch_model.bin or "
            "one .safetensors, .pth, .pt, .bin, .npz or .gguf file");
  std::string names;
  for (const auto& name : candidates) names += (names.empty() ? "" : ", ") + name;
  fail_at(folder.string(), "holds several weight files, name one of them: ", names);
}

}  // namespace

Location locate(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) fail_at(path.string(), "no such file or folder");
  Location location;
  location.weights = fs::is_directory(path, ignored) ? weights_in(path) : path;
  const fs::path folder = location.weights.parent_path();
  // Repositories of OpenCLIP may hold the same model in the form of transformers beside it.
  const bool open_clip = location.weights.filename().string().starts_with(kOpenClipFiles);
  for (const auto* name : {open_clip ? kOpenClipConfigName : kConfigName,
                           open_clip ? kConfigName : kOpenClipConfigName})
    if (location.config.empty() && fs::is_regular_file(folder / name, ignored))
      location.config = folder / name;
  if (fs::is_regular_file(folder / kPreprocessorName, ignored))
    location.preprocessor = folder / kPreprocessorName;
  return location;
}

}  // namespace vit::weights
