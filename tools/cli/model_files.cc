#include "tools/cli/model_files.h"

#include <set>
#include <string>
#include <system_error>

#include "weights/configs/json.h"
#include "weights/known/default_model.h"
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

bool is_bundled(const std::string& given) {
  return given.empty() && weights::model_of_environment().empty();
}

std::string shown_model(const std::string& given, const Classifier& classifier) {
  if (is_bundled(given)) return classifier.name();
  const std::filesystem::path& file = classifier.path();
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) ? file.filename().string()
                                                         : classifier.name();
}

}  // namespace vit::tools
