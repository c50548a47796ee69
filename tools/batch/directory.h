/// A folder's entries in the order of their names, without ever holding all of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace vit::tools {

using std::size_t;

enum class EntryKind { kFile, kFolder, kOther };

struct DirectoryEntry {
  std::string name;
  EntryKind kind = EntryKind::kOther;  ///< links are what they point to
};

/// Names held at a time. A folder of more is read several times, each time for the next names in
/// order: a million names cost 245 readings and 200 kB.
constexpr size_t kNamesHeld = 4096;

/// Calls `visit` with every entry but hidden ones ("." in front), in the order of the names' bytes,
/// until it returns false; returns false then. Throws an Error if the folder cannot be read.
bool visit_directory(const std::filesystem::path& folder,
                     const std::function<bool(const DirectoryEntry&)>& visit,
                     size_t held = kNamesHeld);

}  // namespace vit::tools
