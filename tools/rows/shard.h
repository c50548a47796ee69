/// The part of the inputs that this process works on, if many machines share them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tools/cli/options.h"
#include "tools/rows/schedulers.h"

namespace vit::tools {

/// The source of a shard that the command line gives.
inline constexpr std::string_view kShardOption = "--shard";

struct Shard {
  size_t index = 0;  ///< from 0
  size_t count = 1;
  std::string source{};  ///< where it was given, for messages: "--shard", "SLURM_PROCID"

  bool operator==(const Shard& o) const { return index == o.index && count == o.count; }
};

void add_shard_options(cxxopts::Options& options);

/// From --shard I/N, else from the environment of a scheduler (if that does not give the number of
/// parts, with --shards N); none if there is only one.
std::optional<Shard> find_shard(const cxxopts::ParseResult& arguments,
                                const Environment& environment);

/// By a hash of the path: a path always belongs to the same shard, whatever else is listed.
bool is_ours(const Shard& shard, std::string_view path);

/// The same on every machine and in every version.
std::uint64_t path_hash(std::string_view path);

/// "out.csv" of shard 2 of 7: "out-00002-of-00007.csv".
std::filesystem::path shard_file(const std::filesystem::path& output, const Shard& shard);

/// The inverse of shard_file(): the output and the shard; none if it is not such a name.
struct ShardName {
  std::filesystem::path output;
  Shard shard;
};
std::optional<ShardName> parse_shard_file(const std::filesystem::path& file);

/// Written when a shard is complete, removed when it is resumed.
std::filesystem::path done_marker(const std::filesystem::path& file);

}  // namespace vit::tools
