/// Models by name: what a name means, and where downloaded models are kept.
///
///   $VIT_HOME, else $XDG_CACHE_HOME/vit, else ~/.cache/vit
///     models/OWNER/NAME/             config.json, model.safetensors, … as in the repository
///     models/OWNER/NAME@REVISION/    a revision other than main
///     …/.pulled.json                 written last: repository, revision, commit, and each file
///     …/FILE.part, FILE.part.etag    an unfinished download, and the version it belongs to
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vit::weights {

struct PulledFile {
  std::uintmax_t size = 0;
  std::string etag;  ///< from the hub: a sha256, or git's sha1 of a small file

  bool operator==(const PulledFile&) const = default;
};

struct PulledModel {
  std::string hub;       ///< "google/vit-base-patch16-224"
  std::string revision;  ///< "main", or the requested one
  std::string commit;    ///< of the revision when it was downloaded; empty: unknown
  std::map<std::string, PulledFile> files;

  std::uintmax_t bytes() const;
};

std::filesystem::path cache_folder();

std::filesystem::path model_folder(const std::string& hub, const std::string& revision = "main");

/// None where nothing was downloaded, or not completely.
std::optional<PulledModel> read_pulled(const std::filesystem::path& folder);
void write_pulled(const std::filesystem::path& folder, const PulledModel& model);

/// Sorted by name.
std::vector<PulledModel> pulled_models();

/// "owner/name" as the hub allows it.
bool is_hub_name(const std::string& name);

/// The file or folder that `name` means: the bundled model if it is empty; else a file or folder of
/// this name; else a downloaded model by its short name, its repository (also with @REVISION) or
/// its architecture. Throws an Error that says how to download it.
std::filesystem::path find_model(const std::string& name);

}  // namespace vit::weights
