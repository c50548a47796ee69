#include "tools/output/file.h"

#include <span>

#include "vit/base/atomic_file.h"

namespace vit::tools {

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  write_atomically(path, std::as_bytes(std::span(bytes)));
}

}  // namespace vit::tools
