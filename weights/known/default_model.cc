#include "weights/known/default_model.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vit/base/error.h"

namespace vit::weights {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "model.safetensors";

/// Where this program lies; empty where the system does not say.
fs::path program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

bool is_of_system(std::string_view folder) {
  return folder.starts_with("/lib") || folder.starts_with("/usr/lib");
}

/// The folders in its RPATH or RUNPATH, which programs that link the installed library get from its
/// CMake package: there lie the modules that it loads on demand. The system's own folders follow in
/// the same list and are left out: a program that is being developed must not use what is
/// installed.
std::vector<fs::path> library_folders() {
  void* const program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size{};
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  std::vector<Dl_serinfo> memory(size.dls_size / sizeof(Dl_serinfo) + 1);
  Dl_serinfo* const found = memory.data();
  *found = size;
  if (dlinfo(program, RTLD_DI_SERINFO, found) != 0) return {};
  std::vector<fs::path> folders;
  for (const Dl_serpath& path : std::span(found->dls_serpath, found->dls_cnt))
    if (!is_of_system(path.dls_name)) folders.emplace_back(path.dls_name);
  return folders;
}

std::vector<fs::path> find_places() {
  std::vector<fs::path> places;
  const auto add = [&](const fs::path& folder) {
    fs::path file = (folder / kFile).lexically_normal();
    if (std::ranges::find(places, file) == places.end()) places.push_back(std::move(file));
  };
  add(program_folder() / VIT_SHARE_FROM_PROGRAMS / "default");
  for (const fs::path& folder : library_folders())
    add(folder / VIT_SHARE_FROM_LIBRARIES / "default");
  add(VIT_SOURCE_MODELS);
  add(fs::path(VIT_SHARE) / "default");
  return places;
}

}  // namespace

std::span<const fs::path> default_model_places() {
  static const auto kPlaces = find_places();
  return kPlaces;
}

std::string model_of_environment() {
  const char* chosen = std::getenv("VIT_MODEL");
  return chosen == nullptr ? "" : chosen;
}

fs::path bundled_model() {
  std::string places;
  for (const fs::path& place : default_model_places()) {
    std::error_code ignored;
    if (fs::is_regular_file(place, ignored)) return place;
    places += (places.empty() ? "" : ", ") + place.string();
  }
  fail("no model given, and the bundled one was not found (", places,
       "); name a model, or set VIT_MODEL");
}

}  // namespace vit::weights
