#include "tools/output/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "vit/base/error.h"

namespace vit::tools {

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  const std::string beside = path.string() + "." + std::to_string(getpid()) + ".tmp";
  const auto give_up = [&](const char* what) {
    const int reason = errno;
    std::remove(beside.c_str());
    fail(path.string(), ": cannot ", what, ": ", std::strerror(reason));
  };
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  if (file == nullptr) give_up("write");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written) give_up("write");
  if (std::rename(beside.c_str(), path.c_str()) != 0) give_up("write");
}

void check_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
    fail(path.string(), ": cannot write: there is no folder ", folder.string());
}

}  // namespace vit::tools
