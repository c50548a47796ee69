#include "tests/support/paths.h"

namespace vit::test {

const std::filesystem::path& source_dir() {
  static const std::filesystem::path path = VIT_SOURCE_DIR;
  return path;
}

const std::filesystem::path& goldens() {
  static const std::filesystem::path path = source_dir() / "tests" / "goldens";
  return path;
}

const std::filesystem::path& shared() {
  static const std::filesystem::path path = source_dir() / ".." / "shared";
  return path;
}

const char* program() {
  return VIT_PROGRAM;
}

}  // namespace vit::test
