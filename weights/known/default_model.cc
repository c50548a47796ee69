#include "weights/known/default_model.h"

#include <array>
#include <cstdlib>
#include <string>

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

std::array<fs::path, 3> find_places() {
  return {(program_folder() / VIT_SHARE_FROM_PROGRAMS / "default" / kFile).lexically_normal(),
          fs::path(VIT_SOURCE_MODELS) / kFile, fs::path(VIT_SHARE) / "default" / kFile};
}

}  // namespace

std::span<const fs::path> default_model_places() {
  static const auto kPlaces = find_places();
  return kPlaces;
}

fs::path default_model() {
  const char* chosen = std::getenv("VIT_MODEL");
  if (chosen != nullptr && *chosen != '\0') return chosen;
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
