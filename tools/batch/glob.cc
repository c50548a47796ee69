#include "tools/batch/glob.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <filesystem>
#include <span>
#include <vector>

#include "tools/batch/directory.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using Visit = std::function<bool(const std::string& path)>;

std::vector<std::string> parts_of(std::string_view pattern) {
  std::vector<std::string> parts;
  while (!pattern.empty()) {
    const size_t slash = pattern.find('/');
    if (slash != 0) parts.emplace_back(pattern.substr(0, slash));
    pattern.remove_prefix(slash == pattern.npos ? pattern.size() : slash + 1);
  }
  return parts;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.ends_with('/') ? folder + name : folder + "/" + name;
}

bool expand(const std::string& folder, std::span<const std::string> parts, const Visit& visit);

/// `folder/**/rest`: the rest here, then below every folder. Links are not followed, so that a
/// loop of them ends.
bool expand_any_depth(const std::string& folder, std::span<const std::string> rest,
                      const Visit& visit) {
  if (!expand(folder, rest, visit)) return false;
  return visit_directory(folder.empty() ? "." : folder, [&](const DirectoryEntry& entry) {
    const std::string path = joined(folder, entry.name);
    if (entry.kind != EntryKind::kFolder || fs::is_symlink(path)) return true;
    return expand_any_depth(path, rest, visit);
  });
}

bool expand(const std::string& folder, std::span<const std::string> parts, const Visit& visit) {
  if (parts.empty()) return folder.empty() || visit(folder);
  const std::string& part = parts.front();
  const auto rest = parts.subspan(1);
  if (!folder.empty() && !fs::is_directory(folder)) return true;
  if (part == "**") {
    static const std::vector<std::string> everything{"*"};
    return expand_any_depth(folder, rest.empty() ? everything : rest, visit);
  }
  if (!is_glob(part)) {
    const std::string path = joined(folder, part);
    return !fs::exists(fs::symlink_status(path)) || expand(path, rest, visit);
  }
  return visit_directory(folder.empty() ? "." : folder, [&](const DirectoryEntry& entry) {
    if (fnmatch(part.c_str(), entry.name.c_str(), FNM_PERIOD) != 0) return true;
    return expand(joined(folder, entry.name), rest, visit);
  });
}

}  // namespace

bool is_glob(std::string_view text) {
  return text.find_first_of("*?[") != text.npos;
}

bool visit_glob(const std::string& pattern, const Visit& visit) {
  const auto parts = parts_of(pattern);
  return expand(pattern.starts_with('/') ? "/" : "", parts, visit);
}

}  // namespace vit::tools
