/// Models by name: what a name means, and where downloaded models are kept.
///
///   $VIT_HOME, else $XDG_CACHE_HOME/vit, else ~/.cache/vit
///     models/OWNER/NAME/             config.json, model.safetensors, … as in the repository
///     models/OWNER/NAME@REVISION/    a revision other than main
///     clip/bpe_simple_vocab_16e6.txt.gz   CLIP's vocabulary, for checkpoints that bring none
///     words/…                             rows of labels in words (vit/model/word_head_cache.h)
///     …/.pulled.json                 written last: repository, revision, commit, and each file
///     …/FILE.part, FILE.part.etag    an unfinished download, and the version it belongs to
///
/// Complete models that were copied there by hand are found as well, also as models/NAME, and so
/// are those in the cache of Hugging Face's own programs (hub_cache.h).
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
  std::filesystem::path folder{};  ///< where it was found

  std::uintmax_t bytes() const;
};

std::filesystem::path cache_folder();

/// Where CLIP's vocabulary is kept once it was downloaded.
std::filesystem::path clip_vocabulary_file();

std::filesystem::path model_folder(const std::string& hub, const std::string& revision = "main");

/// None where nothing was downloaded, or not completely.
std::optional<PulledModel> read_pulled(const std::filesystem::path& folder);
void write_pulled(const std::filesystem::path& folder, const PulledModel& model);

/// The folder of a downloaded model, wherever it is. None: there is none that is complete.
std::optional<std::filesystem::path> find_downloaded(const std::string& hub,
                                                     const std::string& revision = "main");

/// All that find_downloaded() finds, sorted by name; of Hugging Face's cache only those in the
/// catalogue.
std::vector<PulledModel> pulled_models();

/// "owner/name" as the hub allows it.
bool is_hub_name(const std::string& name);

/// The file or folder that `name` means: the bundled model if it is empty; else a file or folder of
/// this name; else a downloaded model by its short name, its repository (also with @REVISION) or
/// its architecture; else what was copied into the folder of models under this name. Throws a
/// MissingDownload for a model of the catalogue or the hub that is not there, or an Error that says
/// what was meant, or that VIT_MODEL names what does not exist.
std::filesystem::path find_model(const std::string& name);

}  // namespace vit::weights
