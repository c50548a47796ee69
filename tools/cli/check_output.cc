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

/// Identifies a file under any of its names.
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
    fail_at(path.string(), "cannot write: there is no folder ", folder.string());
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

void fail_ending(const fs::path& output, std::vector<std::string_view> endings) {
  const bool standard_output = std::erase(endings, "-") != 0;
  std::string list;
  for (size_t i = 0; i < endings.size(); ++i) {
    if (i != 0) list += i + 1 == endings.size() ? " or " : ", ";
    list += endings[i];
  }
  fail_usage("option '--output' got '", output.string(), "', expected a name that ends in ", list,
             standard_output ? ", or - for standard output" : "");
}

}  // namespace vit::tools
