#include "vit/data/directory.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "vit/base/error.h"

namespace vit::data {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(DIR* directory) const { closedir(directory); }
};

/// A name with what readdir said of it, so that most entries need no stat.
struct Candidate {
  std::string name;
  unsigned char type = DT_UNKNOWN;

  auto operator<=>(const Candidate&) const = default;
};

EntryKind kind_of(const fs::path& path, unsigned char type) {
  if (type == DT_REG) return EntryKind::kFile;
  if (type == DT_DIR) return EntryKind::kFolder;
  if (type != DT_LNK && type != DT_UNKNOWN) return EntryKind::kOther;
  struct stat status {};
  // A link to nowhere is listed as a file: its row says that there is nothing.
  if (stat(path.c_str(), &status) != 0) return EntryKind::kFile;
  return S_ISREG(status.st_mode)   ? EntryKind::kFile
         : S_ISDIR(status.st_mode) ? EntryKind::kFolder
                                   : EntryKind::kOther;
}

/// The first `most` names after `last`, in order.
std::vector<Candidate> names_after(const fs::path& folder, const std::string& last, size_t most,
                                   const std::atomic<bool>& stop) {
  const std::unique_ptr<DIR, Close> directory(opendir(folder.c_str()));
  if (!directory) fail_at(folder.string(), "cannot read this folder: ", std::strerror(errno));
  std::vector<Candidate> smallest;  // a heap, the last of them in front
  while (!stop) {
    errno = 0;
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr && errno != 0)
      fail_at(folder.string(), "cannot read this folder: ", std::strerror(errno));
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.starts_with('.') || name <= last) continue;
    if (smallest.size() == most) {
      if (name >= smallest.front().name) continue;
      std::ranges::pop_heap(smallest);
      smallest.pop_back();
    }
    smallest.push_back({std::string(name), entry->d_type});
    std::ranges::push_heap(smallest);
  }
  std::ranges::sort_heap(smallest);
  return smallest;
}

}  // namespace

bool visit_directory(const fs::path& folder,
                     const std::function<bool(const DirectoryEntry&)>& visit,
                     const std::atomic<bool>& stop, size_t held) {
  std::string last;
  while (true) {
    const auto names = names_after(folder, last, held, stop);
    for (const auto& [name, type] : names)
      if (stop || !visit({name, kind_of(folder / name, type)})) return false;
    if (stop) return false;
    if (names.size() < held) return true;
    last = names.back().name;
  }
}

}  // namespace vit::data
