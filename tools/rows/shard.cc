#include "tools/rows/shard.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "vit/base/text.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostShards = 99'999;

Shard parse_shard(std::string_view text) {
  const size_t slash = text.find('/');
  const auto index = to_number<size_t>(text.substr(0, slash));
  const auto count = slash == text.npos ? std::nullopt : to_number<size_t>(text.substr(slash + 1));
  if (!index || !count || *count == 0 || *count > kMostShards)
    fail_usage("option '--shard' got '", text, "', expected I/N such as 0/4: part 0 of 4");
  if (*index >= *count)
    fail_usage("option '--shard' got '", text, "', but the ", *count, " parts are 0 to ",
               *count - 1);
  return {*index, *count, std::string(kShardOption)};
}

/// The shard of a place, out of `given` (0: the scheduler must give the number).
Shard shard_at(const ScheduledPlace& place, size_t given) {
  if (place.count == 0 && given == 0)
    fail_usage("the variable ", place.source, " is set, but the number of parts is not; ",
               "give --shards N, or --shards 1 to take everything");
  const size_t count = place.count == 0 ? given : place.count;
  if (given != 0 && count != given)
    fail_usage("option '--shards' got ", given, ", but by ", place.source, " there are ", count,
               " parts; give --shard I/", given, ", counted from 0");
  if (place.index >= count || count > kMostShards)
    fail_usage("the variable ", place.source, " is ", place.index, ", but there are ", count,
               " parts, counted from 0");
  return {place.index, count, place.source};
}

}  // namespace

void add_shard_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Many machines",
      {
          {"shard", "part I of N, counted from 0, written to OUT-0000I-of-0000N", text(), "I/N"},
          {"shards",
           "number of parts, for schedulers that set only the index of a part (Kubernetes, PBS); "
           "1: all inputs, regardless of the scheduler",
           text(), "N"},
      });
}

std::optional<Shard> find_shard(const cxxopts::ParseResult& arguments,
                                const Environment& environment) {
  const bool many = arguments.count("shards") != 0;
  if (arguments.count("shard")) {
    if (many) fail_usage("--shard and --shards given, expected one of them");
    return parse_shard(arguments["shard"].as<std::string>());
  }
  const size_t given =
      many ? parse_count("--shards", arguments["shards"].as<std::string>(), 1, kMostShards) : 0;
  if (given == 1) return std::nullopt;
  if (const auto place = scheduled_place(environment)) return shard_at(*place, given);
  if (given != 0)
    fail_usage("--shards ", given, " given, but no variable gives the index of this part; give ",
               "--shard I/", given, ", or set one of ", scheduler_variables());
  return std::nullopt;
}

std::uint64_t path_hash(std::string_view path) {
  // FNV-1a, then the finalizer of SplitMix64: FNV's low bits alone are uneven.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

bool is_ours(const Shard& shard, std::string_view path) {
  return path_hash(path) % shard.count == shard.index;
}

fs::path shard_file(const fs::path& output, const Shard& shard) {
  std::array<char, 40> part;
  std::snprintf(part.data(), part.size(), "-%05zu-of-%05zu", shard.index, shard.count);
  return output.parent_path() /
         (output.stem().string() + part.data() + output.extension().string());
}

std::optional<ShardName> parse_shard_file(const fs::path& file) {
  constexpr size_t kLength = 15, kDigits = 5;  // "-00002-of-00007"
  const std::string stem = file.stem().string();
  if (stem.size() < kLength) return std::nullopt;
  const std::string_view part = std::string_view(stem).substr(stem.size() - kLength);
  const auto index = to_number<size_t>(part.substr(1, kDigits));
  const auto count = to_number<size_t>(part.substr(kLength - kDigits));
  if (part[0] != '-' || part.substr(1 + kDigits, 4) != "-of-" || !index || !count ||
      *index >= *count)
    return std::nullopt;
  const std::string name = stem.substr(0, stem.size() - kLength) + file.extension().string();
  return ShardName{file.parent_path() / name, {*index, *count, {}}};
}

fs::path done_marker(const fs::path& file) {
  return file.string() + ".done";
}

}  // namespace vit::tools
