#include "weights/store.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "vit/base/atomic_file.h"
#include "vit/base/error.h"
#include "vit/base/missing_download.h"
#include "weights/hub_cache.h"
#include "weights/known/catalogue.h"
#include "weights/known/default_model.h"
#include "weights/known/similar.h"
#include "weights/known/unsupported.h"

namespace vit::weights {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kManifest = ".pulled.json";
constexpr const char* kMainRevision = "main";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A revision such as "refs/pr/1" is one folder.
std::string folder_name(std::string revision) {
  for (size_t at; (at = revision.find('/')) != std::string::npos;) revision.replace(at, 1, "--");
  return revision;
}

[[noreturn]] void fail_several(const std::string& name, const std::vector<std::string>& names) {
  std::string list;
  for (const auto& one : names) list += "\n  " + one;
  fail_at(name, "several pulled models have this architecture, name one of them:", list);
}

/// The downloaded one of the models that the catalogue knows by this name.
std::optional<fs::path> find_known(const std::string& name) {
  const auto known = find_in_catalogue(name);
  std::vector<std::string> names;
  std::optional<fs::path> found;
  for (const auto& model : known) {
    const auto folder = find_downloaded(model.hub, kMainRevision);
    if (!folder) continue;
    found = folder;
    names.push_back(model.name);
  }
  if (names.size() > 1) fail_several(name, names);
  return found;
}

/// models/NAME or models/NAME.safetensors, which no download makes.
std::optional<fs::path> find_copied(const std::string& name) {
  if (name.find('/') != std::string::npos || name == "." || name == "..") return {};
  std::error_code ignored;
  fs::path place;
  try {
    place = cache_folder() / "models" / name;
  } catch (const Error&) {
    return {};  // no cache
  }
  if (fs::is_regular_file(place, ignored) || holds_model(place)) return place;
  place += ".safetensors";
  if (fs::is_regular_file(place, ignored)) return place;
  return {};
}

/// What was downloaded or copied, as far as the folder says.
PulledModel describe(const std::string& hub, const std::string& revision, const fs::path& folder) {
  PulledModel model{.hub = hub, .revision = revision, .commit = {}, .files = {}, .folder = folder};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored))
      model.files[entry.path().filename().string()] = {entry.file_size(ignored), {}};
  return model;
}

/// "NAME@REVISION" of a folder, which had its slashes replaced.
PulledModel describe_copied(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const size_t at = name.find('@');
  return describe(folder.parent_path().filename().string() + "/" + name.substr(0, at),
                  at == std::string::npos ? kMainRevision : name.substr(at + 1), folder);
}

fs::path find_default() {
  const std::string chosen = model_of_environment();
  if (chosen.empty()) return bundled_model();
  std::error_code ignored;
  try {
    const fs::path found = find_model(chosen);
    if (fs::exists(found, ignored)) return found;
  } catch (const MissingDownload& error) {
    throw error.followed_by(" (the variable VIT_MODEL names this model)");
  } catch (const Error& error) {
    fail_again(error, " (the variable VIT_MODEL names this model)");
  }
  fail_at(chosen, "no such file, folder or pulled model; the variable VIT_MODEL names it");
}

}  // namespace

std::uintmax_t PulledModel::bytes() const {
  std::uintmax_t sum = 0;
  for (const auto& [name, file] : files) sum += file.size;
  return sum;
}

fs::path cache_folder() {
  if (const auto home = variable("VIT_HOME"); !home.empty()) return home;
  // The XDG standard ignores a path that is not absolute.
  if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "vit";
  const std::string home = variable("HOME");
  if (home.empty())
    fail("no cache folder: neither VIT_HOME nor XDG_CACHE_HOME nor HOME is set, set one of them");
  return fs::path(home) / ".cache" / "vit";
}

fs::path clip_vocabulary_file() {
  return cache_folder() / "clip" / "bpe_simple_vocab_16e6.txt.gz";
}

fs::path model_folder(const std::string& hub, const std::string& revision) {
  const std::string suffix = revision == kMainRevision ? "" : "@" + folder_name(revision);
  return cache_folder() / "models" / (hub + suffix);
}

std::optional<PulledModel> read_pulled(const fs::path& folder) {
  std::ifstream file(folder / kManifest);
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object()) return {};
  try {
    PulledModel model{.hub = json.at("hub"),
                      .revision = json.at("revision"),
                      .commit = json.at("commit"),
                      .files = {}};
    for (const auto& [name, entry] : json.at("files").items())
      model.files[name] = {entry.at("size"), entry.at("etag")};
    model.folder = folder;
    return model;
  } catch (const Json::exception&) {
    return {};  // treated as not downloaded
  }
}

void write_pulled(const fs::path& folder, const PulledModel& model) {
  Json json{{"hub", model.hub}, {"revision", model.revision}, {"commit", model.commit}};
  for (const auto& [name, file] : model.files)
    json["files"][name] = {{"size", file.size}, {"etag", file.etag}};
  const std::string text = json.dump(2) + "\n";
  write_atomically(folder / kManifest, std::as_bytes(std::span(text)));
}

std::optional<fs::path> find_downloaded(const std::string& hub, const std::string& revision) {
  const fs::path folder = model_folder(hub, revision);
  if (read_pulled(folder) || holds_model(folder)) return folder;
  return find_in_hub_cache(hub, revision);
}

std::vector<PulledModel> pulled_models() {
  std::vector<PulledModel> models;
  std::error_code ignored;
  for (const auto& owner : fs::directory_iterator(cache_folder() / "models", ignored))
    for (const auto& folder : fs::directory_iterator(owner.path(), ignored))
      if (auto model = read_pulled(folder.path()))
        models.push_back(std::move(*model));
      else if (holds_model(folder.path()))
        models.push_back(describe_copied(folder.path()));
  for (const auto& hub : hub_cache_repositories()) {
    if (find_in_catalogue(hub).empty() ||
        std::ranges::find(models, hub, &PulledModel::hub) != models.end())
      continue;
    if (const auto folder = find_in_hub_cache(hub, kMainRevision))
      models.push_back(describe(hub, kMainRevision, *folder));
  }
  std::ranges::sort(models, [](const PulledModel& a, const PulledModel& b) {
    return std::pair(a.hub, a.revision) < std::pair(b.hub, b.revision);
  });
  return models;
}

bool is_hub_name(const std::string& name) {
  const size_t slash = name.find('/');
  if (slash == std::string::npos || name.find('/', slash + 1) != std::string::npos) return false;
  const auto part = [](std::string_view text) {
    return !text.empty() && std::isalnum(static_cast<unsigned char>(text.front())) != 0 &&
           std::ranges::all_of(text, [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
           });
  };
  return part(std::string_view(name).substr(0, slash)) &&
         part(std::string_view(name).substr(slash + 1));
}

fs::path find_model(const std::string& name) {
  std::error_code ignored;
  if (name.empty()) return find_default();
  if (fs::exists(name, ignored)) return name;
  if (auto known = find_known(name)) return *known;
  if (auto copied = find_copied(name)) return *copied;
  if (!find_in_catalogue(name).empty())
    throw MissingDownload({.kind = Download::Kind::kKnownModel, .name = name}, name,
                          "is not pulled yet");
  const size_t at = name.find('@');
  const std::string hub = name.substr(0, at);
  constexpr const char* kNamed = "no such file or folder; a model of this name is ";
  const std::string unsupported = unsupported_name(hub);
  if (!is_hub_name(hub)) {
    if (!unsupported.empty()) fail_at(name, kNamed, unsupported);
    const std::string meant = meant_model(name);
    if (meant.empty()) return name;
    fail_at(name, "no such file or folder; did you mean the model '", meant, "'?");
  }
  const std::string revision = at == std::string::npos ? kMainRevision : name.substr(at + 1);
  if (auto folder = find_downloaded(hub, revision)) return *folder;
  if (!unsupported.empty()) fail_at(name, kNamed, unsupported);
  throw MissingDownload({.kind = Download::Kind::kHubModel,
                         .name = hub,
                         .revision = at == std::string::npos ? "" : revision},
                        name, "no such file or folder, and not pulled");
}

}  // namespace vit::weights
