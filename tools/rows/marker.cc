#include "tools/rows/marker.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "tools/rows/header.h"
#include "tools/rows/shard.h"
#include "vit/base/atomic_file.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// Place of the marker while the shard is resumed.
fs::path kept_marker(const fs::path& output) {
  return done_marker(output).string() + ".before";
}

std::optional<Marker> parse_marker(const fs::path& path) {
  std::ifstream stream(path);
  const Json json = stream ? Json::parse(stream, nullptr, false) : Json();
  const auto rows = count_in(json, "rows"), listed = count_in(json, "listed");
  if (!rows || !listed) return std::nullopt;
  return Marker{.rows = *rows,
                .failed = count_in(json, "failed").value_or(0),
                .listed = *listed,
                .listing = count_in(json, "listing").value_or(0),
                .numbered = count_in(json, "numbered").value_or(*listed)};
}

}  // namespace

std::optional<Marker> read_marker(const fs::path& output) {
  if (!fs::exists(done_marker(output))) return std::nullopt;
  const auto marker = parse_marker(done_marker(output));
  if (!marker) fail_at(done_marker(output).string(), "damaged; run the shard's command again");
  return marker;
}

Marker take_marker(const fs::path& output, bool restart) {
  const fs::path done = done_marker(output), kept = kept_marker(output);
  if (restart || !fs::exists(output)) {
    fs::remove(done);
    fs::remove(kept);
  } else if (::rename(done.c_str(), kept.c_str()) != 0 && errno != ENOENT) {
    fail_at(done.string(), "cannot rename: ", std::strerror(errno));
  }
  return parse_marker(kept).value_or(Marker{});
}

void write_marker(const fs::path& output, Marker marker, const Marker& before) {
  const bool same = marker.listed == before.listed && marker.listing == before.listing;
  marker.numbered = same ? before.numbered : before.numbered + marker.listed;
  Json json;
  json["rows"] = marker.rows;
  json["failed"] = marker.failed;
  json["listed"] = marker.listed;
  json["listing"] = marker.listing;
  json["numbered"] = marker.numbered;
  json["skipped"] = Json::object();
  for (const auto& [ending, count] : marker.skipped) json["skipped"][ending] = count;
  const std::string text = dump(json) + "\n";
  AtomicFile file(done_marker(output));
  file.write(std::as_bytes(std::span(text)));
  file.commit();
  fs::remove(kept_marker(output));
}

}  // namespace vit::tools
