/// What a complete shard says of itself, in "FILE.done".
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
  std::uint64_t listed = 0;   ///< inputs, ours and others'
  std::uint64_t listing = 0;  ///< a hash of them
  /// No row has a higher number: rows that are added later count from here, in every shard alike.
  std::uint64_t numbered = 0;
  std::map<std::string, std::uint64_t> skipped{};  ///< files that are no images, by their ending
};

/// None: the shard is not complete. Throws an Error if the marker is damaged.
std::optional<Marker> read_marker(const std::filesystem::path& output);

/// The shard is not complete from here on. Gives what it said when it last was, also if runs since
/// were stopped; `restart` forgets it.
Marker take_marker(const std::filesystem::path& output, bool restart);

/// `numbered` is decided by the marker `before`: a listing that has changed begins anew behind it.
void write_marker(const std::filesystem::path& output, Marker marker, const Marker& before);

}  // namespace vit::tools
