#include "tools/cli/model_files.h"

#include <set>
#include <string>

#include "weights/configs/json.h"
#include "weights/locate.h"

namespace vit::tools {

std::vector<std::filesystem::path> weight_files(const std::filesystem::path& model) {
  const std::filesystem::path file = weights::locate(model).weights;
  if (!file.string().ends_with(".index.json")) return {file};
  const nlohmann::json index = weights::read_json(file);
  std::set<std::filesystem::path> parts;
  for (const auto& [name, part] : index.at("weight_map").items())
    parts.insert(file.parent_path() / part.get<std::string>());
  return {parts.begin(), parts.end()};
}

}  // namespace vit::tools
