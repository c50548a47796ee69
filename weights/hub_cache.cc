#include "weights/hub_cache.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "vit/base/error.h"
#include "weights/configs/json.h"
#include "weights/locate.h"

namespace vit::weights {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "models--", kBetween = "--";

fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Empty: no variable says where.
fs::path hub_cache() {
  if (const auto cache = variable("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const auto home = variable("HF_HOME"); !home.empty()) return home / "hub";
  if (const auto cache = variable("XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "huggingface" / "hub";
  const auto home = variable("HOME");
  return home.empty() ? home : home / ".cache" / "huggingface" / "hub";
}

bool has_all_shards(const fs::path& weights) {
  if (!weights.string().ends_with(".index.json")) return true;
  const auto index = read_json(weights);
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object()) return false;
  return std::ranges::all_of(*map, [&](const auto& part) {
    return part.is_string() &&
           fs::is_regular_file(weights.parent_path() / part.template get<std::string>());
  });
}

bool leads_out(const fs::path& path) {
  return path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end();
}

/// The first word of a file, empty if there is none.
std::string word_in(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

}  // namespace

bool holds_model(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".part") return false;
  try {
    return fs::is_directory(folder, error) && has_all_shards(locate(folder).weights);
  } catch (const Error&) {
    return false;
  } catch (const fs::filesystem_error&) {
    return false;
  }
}

std::optional<fs::path> find_in_hub_cache(const std::string& hub, const std::string& revision) {
  const fs::path cache = hub_cache();
  const size_t slash = hub.find('/');
  if (cache.empty() || slash == std::string::npos || leads_out(revision)) return {};
  const fs::path repository = cache / (std::string(kPrefix) + hub.substr(0, slash) +
                                       std::string(kBetween) + hub.substr(slash + 1));
  std::string commit = word_in(repository / "refs" / revision);
  if (commit.empty()) commit = revision;
  if (leads_out(commit)) return {};
  const fs::path folder = repository / "snapshots" / commit;
  if (!holds_model(folder) || locate(folder).config.empty()) return {};
  return folder;
}

std::vector<std::string> hub_cache_repositories() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(hub_cache(), ignored)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    name.erase(0, kPrefix.size());
    const size_t between = name.find(kBetween);
    if (between == std::string::npos) continue;
    names.push_back(name.replace(between, kBetween.size(), "/"));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace vit::weights
