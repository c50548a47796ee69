#include "vit/data/image_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "vit/base/text.h"

namespace vit::data {
namespace {

namespace fs = std::filesystem;

class Walk {
 public:
  Walk(const FileVisitor& visitor, SkippedFiles& skipped, const std::atomic<bool>& stop)
      : visitor_(visitor), skipped_(skipped), stop_(stop) {}

  bool enter(const std::string& folder) {
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0 && !parents_.empty()) return true;  // removed meanwhile
    const std::pair self{status.st_dev, status.st_ino};
    // A link to a folder that contains it would be followed without end.
    if (std::ranges::find(parents_, self) != parents_.end()) return true;
    parents_.push_back(self);
    const bool more = visit(folder);
    parents_.pop_back();
    return more;
  }

 private:
  bool visit(const std::string& folder) {
    const auto take = [&](const DirectoryEntry& entry) {
      return take_entry(folder + (folder.ends_with('/') ? "" : "/") + entry.name, entry);
    };
    try {
      return visit_directory(folder, take, stop_);
    } catch (const Error& error) {
      if (!visitor_.unreadable) throw;
      return visitor_.unreadable(folder, error);
    }
  }

  bool take_entry(const std::string& path, const DirectoryEntry& entry) {
    switch (entry.kind) {
      case EntryKind::kFolder:
        return enter(path);
      case EntryKind::kFile:
        return visitor_.file(path);
      case EntryKind::kOther:
        skipped_.add_special();
    }
    return true;
  }

  const FileVisitor& visitor_;
  SkippedFiles& skipped_;
  const std::atomic<bool>& stop_;
  std::vector<std::pair<dev_t, ino_t>> parents_;  ///< from the first folder to the present one
};

}  // namespace

bool looks_like_image(std::string_view name) {
  constexpr std::array<std::string_view, 11> kEndings{
      ".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".heic", ".heif", ".avif"};
  return std::ranges::find(kEndings, ending_of(name)) != kEndings.end();
}

bool visit_files(const fs::path& folder, const FileVisitor& visitor, SkippedFiles& skipped,
                 const std::atomic<bool>& stop) {
  return Walk(visitor, skipped, stop).enter(folder.string());
}

bool visit_images(const fs::path& folder, const std::function<bool(const std::string&)>& take,
                  SkippedFiles& skipped) {
  const auto file = [&](const std::string& path) {
    if (looks_like_image(path)) return take(path);
    skipped.add(path);
    return true;
  };
  return visit_files(folder, {.file = file}, skipped);
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  visit_directory(folder, [&](const DirectoryEntry& entry) {
    if (entry.kind == EntryKind::kFolder) folders.push_back(folder / entry.name);
    return true;
  });
  return folders;
}

}  // namespace vit::data
