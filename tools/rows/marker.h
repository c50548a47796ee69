/// The marker of a complete shard, "FILE.done".
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace vit::tools {

struct Marker {
  std::uint64_t rows = 0;
  std::uint64_t failed = 0;
  std::uint64_t listed = 0;   ///< inputs of all shards
  std::uint64_t listing = 0;  ///< a hash of them
  /// No row has a higher number: rows that are added later continue from here, in every shard.
  std::uint64_t numbered = 0;
  std::map<std::string, std::uint64_t> skipped{};  ///< other files, by their ending
};

/// None: the shard is not complete. Throws an Error if the marker is damaged.
std::optional<Marker> read_marker(const std::filesystem::path& output);

/// Marks the shard as incomplete. Returns the last marker, even if later runs were stopped;
/// `restart` discards it.
Marker take_marker(const std::filesystem::path& output, bool restart);

/// `numbered` follows from the marker `before`: if the listing has changed, its numbers continue
/// after those of the earlier one.
void write_marker(const std::filesystem::path& output, Marker marker, const Marker& before);

}  // namespace vit::tools
