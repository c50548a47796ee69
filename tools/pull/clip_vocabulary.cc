#include "tools/pull/clip_vocabulary.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tools/output/digest.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/pull/shown_download.h"
#include "vit/base/atomic_file.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

// Where the authors of CLIP publish it; the content has not changed since 2021.
constexpr const char* kHome =
    "https://raw.githubusercontent.com/openai/CLIP/main/clip/bpe_simple_vocab_16e6.txt.gz";
constexpr const char* kSha256 = "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a";

std::string address() {
  const char* given = std::getenv("VIT_CLIP_VOCABULARY");
  return given != nullptr && *given != '\0' ? given : kHome;
}

bool is_complete(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  Digest digest = Digest::sha256();
  std::vector<char> piece(size_t{1} << 20);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    digest.add(std::as_bytes(std::span(piece.data(), static_cast<size_t>(file.gcount()))));
  }
  return digest.finish() == kSha256;
}

}  // namespace

void fetch_clip_vocabulary(HttpClient& client, const HubSettings& settings) {
  const fs::path path = weights::clip_vocabulary_file();
  const std::string name = path.filename().string();
  std::string state = "is up to date";
  if (!is_complete(path)) {
    fs::create_directories(path.parent_path());
    remove_abandoned(path.parent_path());
    // The token of the hub is for the hub alone: it is sent to no other origin.
    HubRepository home(client, settings, "openai/CLIP");
    const RemoteFile remote{.name = name, .url = address(), .size = {}, .etag = kSha256};
    state = shown_download(home, remote, path);
  }
  write_output("  " + fit(printable(name), 28) + "  " + format_bytes(fs::file_size(path)) + ", " +
               state + ", for all models without tokenizer files\n");
}

}  // namespace vit::tools
