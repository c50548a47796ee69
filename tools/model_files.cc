#include "tools/model_files.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "weights/locate.h"

namespace vit::tools {

std::vector<std::filesystem::path> weight_files(const std::filesystem::path& model) {
  const auto weights = weights::locate(model).weights;
  if (!weights.string().ends_with(".index.json")) return {weights};
  std::ifstream file(weights);
  std::set<std::filesystem::path> parts;
  for (const auto& [name, part] : nlohmann::json::parse(file).at("weight_map").items())
    parts.insert(weights.parent_path() / part.get<std::string>());
  return {parts.begin(), parts.end()};
}

}  // namespace vit::tools
