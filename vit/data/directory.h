/// A folder's entries in the order of their names, without ever holding all of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace vit::data {

using std::size_t;

enum class EntryKind { kFile, kFolder, kOther };

struct DirectoryEntry {
  std::string name;
  EntryKind kind = EntryKind::kOther;  ///< links are what they point to
};

/// Names held at a time. A folder of more is read several times, each time for the next names in
/// order: a million names cost 245 readings and 200 kB.
constexpr size_t kNamesHeld = 4096;

/// For callers that are ended in other ways.
inline const std::atomic<bool> kNeverStop{false};

/// Calls `visit` with every entry but hidden ones ("." in front), in the order of the names' bytes,
/// until it returns false or `stop` is set; returns false then. Throws an Error if the folder
/// cannot be read.
bool visit_directory(const std::filesystem::path& folder,
                     const std::function<bool(const DirectoryEntry&)>& visit,
                     const std::atomic<bool>& stop = kNeverStop, size_t held = kNamesHeld);

}  // namespace vit::data
