/// The one lister of image files. Its policy is in vit/data/README.md.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/error.h"
#include "vit/data/directory.h"
#include "vit/data/skipped_files.h"

namespace vit::data {

/// The endings of looks_like_image, for messages.
constexpr std::string_view kImageEndings = ".jpg, .png, .webp, .bmp, .tif, .gif, .heic or .avif";

/// By its ending, in any case: .jpg, .jpeg, .png, .webp, .bmp, .tif, .tiff, .gif, .heic, .heif,
/// .avif.
bool looks_like_image(std::string_view name);

struct FileVisitor {
  /// Every file below the folder, of any ending. False ends the visit.
  std::function<bool(const std::string& path)> file;
  /// A folder that cannot be read; `file` throws no Error then. Without it the error is thrown.
  std::function<bool(const std::string& folder, const Error& error)> unreadable{};
};

/// Visits the files at any depth below `folder`, in the order of their names' bytes. Pipes, sockets
/// and devices are counted in `skipped`. Returns false if the visitor or `stop` ended it.
bool visit_files(const std::filesystem::path& folder, const FileVisitor& visitor,
                 SkippedFiles& skipped, const std::atomic<bool>& stop = kNeverStop);

/// Only files that end like images; all others are counted in `skipped`.
bool visit_images(const std::filesystem::path& folder,
                  const std::function<bool(const std::string& path)>& take, SkippedFiles& skipped);

/// The folders directly in `folder`, in order.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);

}  // namespace vit::data
