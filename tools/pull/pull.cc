#include "tools/pull/pull.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/pull/clip_vocabulary.h"
#include "tools/pull/shown_download.h"
#include "vit/base/atomic_file.h"
#include "weights/configs/config_files.h"
#include "weights/known/catalogue.h"
#include "weights/known/similar.h"
#include "weights/known/unsupported.h"
#include "weights/locate.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamples =
    "  vit pull deit_tiny_patch16_224\n"
    "  vit pull google/vit-base-patch16-224 && vit classify -m google/vit-base-patch16-224 a.jpg\n"
    "  HF_TOKEN=… vit pull my/private-model --revision v2\n"
    "\nEnvironment:\n"
    "  VIT_HOME        the cache folder; else XDG_CACHE_HOME/vit, else ~/.cache/vit\n"
    "  HF_TOKEN        your access token, for private and gated models\n"
    "  HF_ENDPOINT     a mirror instead of https://huggingface.co\n"
    "  HF_HUB_OFFLINE  1: as --offline\n"
    "  VIT_CLIP_VOCABULARY  another address of CLIP's vocabulary, for OpenCLIP's models without "
    "one\n";

constexpr const char* kClipVocabulary = "bpe_simple_vocab_16e6.txt.gz";
constexpr const char* kExtensions[] = {".safetensors", ".npz", ".pth", ".pt", ".bin", ".gguf"};

void add_options(cxxopts::Options& options) {
  options.add_options("", {
                              {"revision", "a branch, tag or commit",
                               cxxopts::value<std::string>()->default_value("main"), "NAME"},
                              {"offline", "no network: succeed only if the model is in the cache"},
                          });
}

/// A short name or OWNER/NAME to the repository.
std::string repository_of(const std::string& name) {
  const auto known = weights::find_in_catalogue(name);
  if (known.size() == 1) return known.front().hub;
  if (known.size() > 1) {
    std::string list;
    for (const auto& model : known) list += "\n  " + model.name;
    fail_at(name, "the catalogue has several of this architecture, name one of them:", list);
  }
  if (const std::string what = weights::unsupported_name(name); !what.empty())
    fail("'", name, "' is ", what);
  if (weights::is_hub_name(name)) return name;
  const std::string meant = weights::meant_model(name);
  fail("unknown model '", name, "'", meant.empty() ? "" : ", did you mean '" + meant + "'?",
       meant.empty() ? "; " : " ", "'vit models' lists the known ones, OWNER/NAME fetches any ",
       "repository of the hub");
}

/// Fetches the files of one repository into one folder.
class Pull {
 public:
  Pull(HubRepository& repository, fs::path folder)
      : repository_(repository),
        folder_(std::move(folder)),
        before_(weights::read_pulled(folder_)) {}

  /// Whether the model needs CLIP's vocabulary, which its repository does not have.
  bool lacks_tokenizer() const { return lacks_tokenizer_; }

  weights::PulledModel run(const std::string& revision) {
    remove_abandoned(folder_);
    if (fetch_if_there(weights::kConfigName)) refuse_unsupported();
    // Beside a bare image tower of timm, whose config.json has no model_type, its repositories hold
    // the model of two towers that it is from.
    const bool open_clip =
        !config_has("model_type") && fetch_if_there(weights::kOpenClipConfigName);
    fetch_if_there(weights::kPreprocessorName);
    if (open_clip || reads_texts()) fetch_tokenizer(open_clip);
    fetch_weights(open_clip);
    weights::PulledModel model{repository_.name(), revision, repository_.commit(), files_};
    weights::write_pulled(folder_, model);
    return model;
  }

 private:
  bool fetch_if_there(const std::string& name) {
    const auto remote = repository_.find(name);
    if (remote) fetch(*remote);
    return remote.has_value();
  }

  nlohmann::json config() const {
    std::ifstream file(folder_ / weights::kConfigName);
    return nlohmann::json::parse(file, nullptr, false);
  }

  bool config_has(const char* field) const {
    if (!files_.contains(weights::kConfigName)) return false;
    const auto content = config();
    return content.is_object() && content.contains(field);
  }

  /// Weights that no command could read are not worth a download.
  void refuse_unsupported() const {
    const auto content = config();
    if (!content.is_object()) return;
    const std::string what = weights::unsupported_in({content, repository_.name()});
    if (what.empty()) return;
    std::error_code ignored;  // a folder with other files stays
    if (!before_) fs::remove(folder_ / weights::kConfigName, ignored);
    fs::remove(folder_, ignored);
    fail_at(repository_.name(), what);
  }

  /// transformers' models of two towers: a configuration for each.
  bool reads_texts() const { return config_has("model_type") && config_has("text_config"); }

  void fetch_tokenizer(bool open_clip) {
    bool found = fetch_if_there("tokenizer.json");
    if (!found) found = fetch_if_there("vocab.json") && fetch_if_there("merges.txt");
    if (fetch_if_there("spiece.model")) found = true;  // SigLIP's own, read before others
    if (!found) found = fetch_if_there("tokenizer.model") || fetch_if_there("vocab.txt");
    if (!found) found = fetch_if_there(kClipVocabulary);
    for (const auto* name : {"tokenizer_config.json", "special_tokens_map.json"})
      fetch_if_there(name);
    lacks_tokenizer_ = open_clip && !found;
  }

  bool is_up_to_date(const RemoteFile& remote) const {
    if (!before_ || remote.etag.empty()) return false;
    const auto known = before_->files.find(remote.name);
    std::error_code error;
    return known != before_->files.end() && known->second.etag == remote.etag &&
           fs::file_size(folder_ / remote.name, error) == known->second.size && !error;
  }

  void fetch(const RemoteFile& remote) {
    fs::create_directories(folder_);
    const bool up_to_date = is_up_to_date(remote);
    std::string state = "is up to date";
    if (!up_to_date) state = shown_download(repository_, remote, folder_ / remote.name);
    const std::uintmax_t size = fs::file_size(folder_ / remote.name);
    files_[remote.name] = {size, remote.etag};
    write_output("  " + fit(printable(remote.name), 28) + "  " + format_bytes(size) + ", " + state +
                 "\n");
  }

  void fetch_weights(bool open_clip) {
    if (open_clip)
      for (const auto* name : weights::kWeightNames)
        if (std::string_view(name).starts_with(weights::kOpenClipFiles) && fetch_if_there(name))
          return;
    for (const auto* name : weights::kWeightNames) {
      if (!fetch_if_there(name)) continue;
      if (std::string_view(name) == weights::kShardIndexName) fetch_shards();
      return;
    }
    fetch_only_weights(repository_.list());
  }

  void fetch_shards() {
    std::ifstream file(folder_ / weights::kShardIndexName);
    const auto index = nlohmann::json::parse(file, nullptr, false);
    if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
      fail_at(repository_.name(), weights::kShardIndexName, " has no weight_map");
    std::set<std::string> shards;
    for (const auto& [tensor, shard] : index["weight_map"].items()) {
      // A name that leads out of the folder must not be written to.
      const fs::path name = shard.is_string() ? shard.get<std::string>() : "";
      if (name.empty() || name.has_parent_path() || name == "..")
        fail_at(repository_.name(), weights::kShardIndexName, " names the shard ", shard.dump());
      shards.insert(name.string());
    }
    for (const auto& shard : shards)
      if (!fetch_if_there(shard)) fail_at(repository_.name(), "has no ", shard);
  }

  void fetch_only_weights(const std::vector<std::string>& names) {
    std::string listed;
    std::vector<std::string> candidates;
    for (const auto& name : names) {
      const std::string extension = fs::path(name).extension().string();
      if (std::ranges::find(kExtensions, extension) == std::end(kExtensions)) continue;
      candidates.push_back(name);
      listed += (listed.empty() ? "" : ", ") + name;
    }
    if (candidates.empty())
      fail_at(repository_.name(),
              "holds no weights that this toolkit reads (safetensors, PyTorch, ", "NumPy, GGUF)");
    if (candidates.size() > 1)
      fail_at(repository_.name(), "holds several weight files, fetch one by hand: ", listed);
    fetch_if_there(candidates.front());
  }

  HubRepository& repository_;
  fs::path folder_;
  std::optional<weights::PulledModel> before_;
  std::map<std::string, weights::PulledFile> files_;
  bool lacks_tokenizer_ = false;
};

int pull(const std::string& name, const std::string& revision, bool offline) {
  const std::string hub = repository_of(name);
  const fs::path folder = weights::model_folder(hub, revision);
  if (offline) {
    const auto found = weights::find_downloaded(hub, revision);
    if (!found)
      fail_at(hub, "is not in the cache, and nothing is fetched offline (--offline or ",
              "HF_HUB_OFFLINE); -m also takes a folder that was copied from another machine");
    write_output(hub + " is in " + printable(found->string()) + "\n");
    return 0;
  }
  HubSettings settings = hub_from_environment();
  settings.revision = revision;
  HttpClient client;
  HubRepository repository(client, settings, hub);
  write_output(hub + " to " + printable(folder.string()) + "\n");
  Pull pull(repository, folder);
  pull.run(revision);
  if (pull.lacks_tokenizer()) fetch_clip_vocabulary(client, settings);
  const std::string suffix = revision == "main" ? "" : "@" + revision;
  write_output("done: vit classify -m " + hub + printable(suffix) + " IMAGE\n");
  return 0;
}

int run(const cxxopts::ParseResult& arguments) {
  const auto revision = arguments["revision"].as<std::string>();
  if (revision.empty()) fail_usage("option '--revision' got '', expected a branch, tag or commit");
  return pull(arguments.unmatched().front(), revision,
              arguments.count("offline") || offline_by_environment());
}

}  // namespace

Command pull_command() {
  return {.name = "pull",
          .summary = "fetch a model from the Hugging Face hub",
          .description = "Fetch a model from the Hugging Face hub; afterwards -m NAME finds it.",
          .usage = "NAME [OPTION...]",
          .examples = kExamples,
          .operands = {.least = 1,
                       .most = 1,
                       .noun = "name",
                       .expected = "one: a short name that 'vit models' lists, or OWNER/NAME on "
                                   "the hub"},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
