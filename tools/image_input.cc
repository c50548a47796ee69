#include "tools/image_input.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "tools/options.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

std::vector<std::byte> read_standard_input() {
  std::vector<std::byte> bytes;
  std::array<std::byte, 65536> buffer;
  while (true) {
    const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count == 0) return bytes;
    if (count < 0 && errno != EINTR) fail("standard input: cannot read: ", std::strerror(errno));
    if (count > 0) bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + count);
  }
}

}  // namespace

void check_standard_input(const std::vector<std::string>& files) {
  const auto inputs = std::ranges::count(files, kStandardInput);
  if (inputs > 1) fail_usage("'-' given ", inputs, " times, but there is one standard input");
  if (inputs == 1 && isatty(STDIN_FILENO) == 1)
    fail_usage(
        "'-' reads an image from standard input, which is a terminal; feed it with '< FILE'");
}

std::string shown_name(const std::string& file) {
  return file == kStandardInput ? "standard input" : file;
}

patch::Image read_image_input(const std::string& file, patch::Exif exif) {
  if (file == kStandardInput) return patch::decode(read_standard_input(), shown_name(file), exif);
  if (std::filesystem::is_directory(file))
    fail(file, ": is a folder, expected an image; give its files, such as ", file,
         file.ends_with('/') ? "" : "/", "*.jpg");
  return patch::read_image(file, exif);
}

}  // namespace vit::tools
