/// Where pulled models lie, and what a model's name means.
///
///   $VIT_HOME, else $XDG_CACHE_HOME/vit, else ~/.cache/vit
///     models/OWNER/NAME/             config.json, model.safetensors, … as the hub has them
///     models/OWNER/NAME@REVISION/    a revision other than main
///     …/.pulled.json                 written last: hub, revision, commit, size and hash of each
///     file …/FILE.part, FILE.part.etag    a download that was cut, and what it is a part of
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vit::tools {

struct PulledFile {
  std::uintmax_t size = 0;
  std::string etag;  ///< as the hub says it: a sha256, or git's sha1 of a small file

  bool operator==(const PulledFile&) const = default;
};

struct PulledModel {
  std::string hub;       ///< "google/vit-base-patch16-224"
  std::string revision;  ///< "main", or as asked for
  std::string commit;    ///< what that was when it was pulled, empty: the hub did not say
  std::map<std::string, PulledFile> files;

  std::uintmax_t bytes() const;
};

std::filesystem::path cache_folder();

std::filesystem::path model_folder(const std::string& hub, const std::string& revision = "main");

/// None where nothing was pulled, or not to its end.
std::optional<PulledModel> read_pulled(const std::filesystem::path& folder);
void write_pulled(const std::filesystem::path& folder, const PulledModel& model);

/// Ordered by name.
std::vector<PulledModel> pulled_models();

/// "owner/name" as the hub allows it.
bool is_hub_name(const std::string& name);

/// What `-m NAME` means: nothing is the model that comes with the toolkit; else a file or folder of
/// this name, else a pulled model by its short name, its repository (also with @REVISION) or its
/// architecture. Throws an Error that says how to pull it.
std::filesystem::path find_model(const std::string& name);

}  // namespace vit::tools
