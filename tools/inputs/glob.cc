#include "tools/inputs/glob.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "vit/base/error.h"
#include "vit/data/directory.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using Visit = std::function<bool(const std::string& path)>;

constexpr std::string_view kAnyDepth = "**";

/// The names between the slashes. "photos/**" means everything below: "photos/**/*".
std::vector<std::string> parts_of(std::string_view pattern) {
  std::vector<std::string> parts;
  while (!pattern.empty()) {
    const size_t slash = pattern.find('/');
    const std::string_view part = pattern.substr(0, slash);
    const bool again = part == kAnyDepth && !parts.empty() && parts.back() == kAnyDepth;
    if (!part.empty() && !again) parts.emplace_back(part);
    pattern.remove_prefix(slash == pattern.npos ? pattern.size() : slash + 1);
  }
  if (!parts.empty() && parts.back() == kAnyDepth) parts.emplace_back("*");
  return parts;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.ends_with('/') ? folder + name : folder + "/" + name;
}

/// One traversal of the folders that follows all ways to match a path at the same time: "**" can
/// match one path in several ways, and the path must be visited once.
class Expansion {
 public:
  Expansion(const std::string& pattern, const Visit& visit, const std::atomic<bool>& stop)
      : parts_(parts_of(pattern)), visit_(visit), stop_(stop) {}

  bool run(const std::string& start) {
    Places places;
    add(0, places);
    return enter(start, places);
  }

  /// Whether the parts from `first` on match the first few of `names`, or all of them followed by
  /// up to `unknown` arbitrary names.
  bool takes(size_t first, const std::vector<std::string>& names, size_t unknown) const {
    Places places;
    add(first, places);
    for (size_t i = 0; i < names.size() + unknown; ++i) {
      places = i < names.size() ? after(places, names[i], !names[i].starts_with('.'))
                                : after_unknown(places);
      if (complete(places)) return true;
    }
    return false;
  }

  /// Leading parts without wildcards.
  size_t names_in_front() const {
    size_t count = 0;
    while (is_name(count)) ++count;
    return count;
  }
  const std::vector<std::string>& parts() const { return parts_; }

 private:
  /// Indices of the parts that the next name may match, in order; the number of parts stands for a
  /// complete match.
  using Places = std::vector<size_t>;

  void add(size_t place, Places& places) const {
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
    if (is_any_depth(place)) add(place + 1, places);  // "**" may match no folder
  }

  bool is_any_depth(size_t place) const {
    return place < parts_.size() && parts_[place] == kAnyDepth;
  }
  bool is_name(size_t place) const {
    return place < parts_.size() && !is_any_depth(place) && !is_glob(parts_[place]);
  }
  bool complete(const Places& places) const {
    return std::ranges::find(places, parts_.size()) != places.end();
  }

  /// Parts that may follow `name`. `deeper`: it is a folder that "**" descends into.
  Places after(const Places& places, const std::string& name, bool deeper) const {
    Places next;
    for (const size_t place : places) {
      if (place == parts_.size()) continue;
      if (is_any_depth(place)) {
        if (deeper) add(place, next);
      } else if (is_name(place) ? parts_[place] == name
                                : fnmatch(parts_[place].c_str(), name.c_str(), FNM_PERIOD) == 0) {
        add(place + 1, next);
      }
    }
    return next;
  }

  Places after_unknown(const Places& places) const {
    Places next;
    for (const size_t place : places) {
      if (place == parts_.size()) continue;
      if (is_any_depth(place))
        add(place, next);
      else
        add(place + 1, next);
    }
    return next;
  }

  bool enter(const std::string& folder, const Places& places) {
    std::error_code ignored;
    if (!folder.empty() && !fs::is_directory(folder, ignored)) return true;
    // A name without wildcards needs no permission to read the folder.
    if (places.size() == 1 && is_name(places.front())) return take_name(folder, places);
    for (const size_t place : places)
      if (is_name(place) && parts_[place].starts_with('.') && !take_name(folder, {place}))
        return false;
    const auto take_entry = [&](const data::DirectoryEntry& entry) {
      const std::string path = joined(folder, entry.name);
      // Links are not followed by "**", so that a loop of them ends.
      const bool deeper = entry.kind == data::EntryKind::kFolder && !fs::is_symlink(path, ignored);
      return take(path, after(places, entry.name, deeper));
    };
    const std::string readable = folder.empty() ? "." : folder;
    try {
      return data::visit_directory(readable, take_entry, stop_);
    } catch (const Error&) {
      return visit_(readable);  // the visitor meets the same error and reports it
    }
  }

  bool take_name(const std::string& folder, const Places& places) {
    const std::string& name = parts_[places.front()];
    const std::string path = joined(folder, name);
    struct stat status {};
    return lstat(path.c_str(), &status) != 0 || take(path, after(places, name, false));
  }

  bool take(const std::string& path, const Places& places) {
    if (complete(places)) return visit_(path);
    return places.empty() || enter(path, places);
  }

  const std::vector<std::string> parts_;
  const Visit& visit_;
  const std::atomic<bool>& stop_;
};

}  // namespace

bool is_glob(std::string_view text) {
  return text.find_first_of("*?[") != text.npos;
}

bool visit_glob(const std::string& pattern, const Visit& visit, const std::atomic<bool>& stop) {
  return Expansion(pattern, visit, stop).run(pattern.starts_with('/') ? "/" : "");
}

bool takes_files_below(const std::string& pattern, const fs::path& folder) {
  constexpr size_t kUnknown = 2;  // a folder of a class, and a file in it
  const Visit none;
  const std::atomic<bool> never{false};
  const Expansion expansion(pattern, none, never);
  const size_t front = expansion.names_in_front();
  fs::path start = pattern.starts_with('/') ? "/" : ".";
  for (size_t i = 0; i < front; ++i) start /= expansion.parts()[i];
  std::error_code ignored;
  const fs::path below = fs::weakly_canonical(folder, ignored)
                             .lexically_relative(fs::weakly_canonical(start, ignored));
  if (below.empty() || *below.begin() == "..") return false;
  std::vector<std::string> names;
  for (const fs::path& name : below)
    if (name != "." && !name.empty()) names.push_back(name.string());
  return expansion.takes(front, names, kUnknown);
}

}  // namespace vit::tools
