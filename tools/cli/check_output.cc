#include "tools/cli/check_output.h"

#include <sys/stat.h>

#include <map>
#include <optional>
#include <utility>

#include "tools/cli/usage_error.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// What makes a file the same by whatever name.
using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> id_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

std::map<FileId, fs::path> ids_of(const std::vector<fs::path>& inputs) {
  std::map<FileId, fs::path> ids;
  const auto add = [&](const fs::path& path) {
    if (const auto id = id_of(path)) ids.emplace(*id, path);
  };
  std::error_code ignored;
  for (const auto& input : inputs) {
    add(input);
    if (!fs::is_directory(input, ignored)) continue;
    for (const auto& entry : fs::directory_iterator(input, ignored)) add(entry.path());
  }
  return ids;
}

}  // namespace

void check_folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  std::error_code ignored;
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    fail(path.string(), ": cannot write: there is no folder ", folder.string());
}

void check_outputs(const std::vector<fs::path>& outputs, const std::vector<fs::path>& inputs) {
  const auto ids = ids_of(inputs);
  for (const auto& output : outputs) {
    const auto id = id_of(output);
    const auto found = id ? ids.find(*id) : ids.end();
    if (found != ids.end())
      fail_usage(output.string(), ": the output would overwrite the input ", found->second.string(),
                 "; give another name");
  }
}

}  // namespace vit::tools
