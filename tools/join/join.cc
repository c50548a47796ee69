#include "tools/join/join.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "tools/output/format.h"
#include "tools/output/lock.h"
#include "tools/output/terminal.h"
#include "tools/rows/header.h"
#include "tools/rows/marker.h"
#include "tools/rows/results.h"
#include "tools/rows/shard.h"
#include "vit/base/atomic_file.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamples =
    "  vit join classes.csv\n"
    "  vit join part/classes-*-of-00004.csv -o classes.csv\n";

/// The files of all shards of one output, checked to be complete and made with the same options.
struct ShardSet {
  fs::path output;
  std::vector<fs::path> files;  ///< by shard
  ResultKind kind = ResultKind::kCsv;
  Json header;  ///< without the shard
  RowShape shape;
};

void add_options(cxxopts::Options& options) {
  options.add_options(
      "", {
              {"o,output", "the joined file (default: the shards' name without -0000I-of-0000N)",
               cxxopts::value<std::string>(), "JOINED"},
              {"q,quiet", "no message on success"},
          });
}

/// The shards of `output` in its folder.
std::vector<fs::path> shards_beside(const fs::path& output) {
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path path = output.parent_path() / entry.path().filename();
    const auto name = parse_shard_file(path);
    if (name && name->output == output) files.push_back(path);
  }
  std::ranges::sort(files);
  return files;
}

std::vector<fs::path> shard_files(const std::vector<std::string>& operands) {
  std::vector<fs::path> files;
  for (const fs::path operand : operands) {
    if (parse_shard_file(operand)) {
      files.push_back(operand);
      continue;
    }
    const auto found = shards_beside(operand);
    if (found.empty())
      fail_at(operand.string(), "there are no shards of this name, expected files such as ",
              shard_file(operand, {0, 4, {}}).string());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

/// One file for each shard, in their order.
std::vector<fs::path> complete_set(const std::vector<fs::path>& files) {
  std::map<size_t, fs::path> by_index;
  const auto first = parse_shard_file(files.front());
  for (const auto& file : files) {
    const auto name = parse_shard_file(file);
    if (name->output.filename() != first->output.filename() ||
        name->shard.count != first->shard.count)
      fail(file.string(), " and ", files.front().string(), " are not shards of the same output");
    if (!by_index.emplace(name->shard.index, file).second && by_index[name->shard.index] != file)
      fail(file.string(), " and ", by_index[name->shard.index].string(), " are the same shard");
  }
  std::string missing;
  std::vector<fs::path> ordered;
  for (size_t i = 0; i < first->shard.count; ++i) {
    if (by_index.contains(i))
      ordered.push_back(by_index[i]);
    else
      missing += (missing.empty() ? "" : ", ") + std::to_string(i);
  }
  if (!missing.empty())
    fail_at(first->output.string(), "of its ", first->shard.count,
            " shards these are missing: ", missing);
  return ordered;
}

Marker marker_of(const fs::path& file) {
  if (const auto marker = read_marker(file)) return *marker;
  fail_at(file.string(), "this shard is not complete: there is no ",
          done_marker(file).filename().string(), "; run its command again to resume it");
}

Results open(const ShardSet& set, const fs::path& path) {
  return Results(path, set.kind, set.shape);
}

/// Shards may be in a read-only folder, such as that of another user.
Results open_shard(const ShardSet& set, const fs::path& path) {
  return Results(path, set.kind, set.shape, {.read_only = true});
}

/// The header of a shard's file, without the shard, which must be the one of its name.
Json read_header(const fs::path& file, ResultKind kind) {
  if (!fs::exists(file)) fail_at(file.string(), "no such file");
  Results results(file, kind, {}, {.read_only = true});
  const auto text = results.read_header();
  Json header = text ? parse_header(file, results, *text) : Json::object();
  const auto shard = take_shard(header);
  if (!shard) fail_at(file.string(), "is not the file of a shard: its header names none");
  if (!(*shard == parse_shard_file(file)->shard))
    fail_at(file.string(), "is shard ", shard->index, " of ", shard->count,
            " by its header; was it renamed?");
  results.check_damage();
  return header;
}

void check_listing(const fs::path& first, const Marker& a, const fs::path& file, const Marker& b) {
  if (a.listed == b.listed && a.listing == b.listing) return;
  fail_at(
      file.string(), "was made from another listing than ", first.string(), ": ", b.listed,
      " inputs against ", a.listed,
      ". Files were added or removed meanwhile; run the commands of all shards again to add the "
      "new ones");
}

ShardSet check(const std::vector<std::string>& operands) {
  ShardSet set;
  set.files = complete_set(shard_files(operands));
  set.output = parse_shard_file(set.files.front())->output;
  const auto kind = result_kind(set.files.front());
  if (!kind)
    fail_at(set.files.front().string(), "expected a file of results: .csv, .jsonl, .db or .npy");
  set.kind = *kind;
  std::optional<Marker> first;
  for (const auto& file : set.files) {
    const Json header = read_header(file, set.kind);
    if (!first) {
      set.header = header;
      set.shape = shape_of(file, header);
    }
    const auto lines = differences(set.header, header);
    if (!lines.empty())
      fail_at(file.string(), "has other options than ", set.files.front().string(), ": ",
              lines.front());
    const Marker marker = marker_of(file);
    if (!first) first = marker;
    check_listing(set.files.front(), *first, file, marker);
  }
  return set;
}

/// A shard while it is joined.
struct Source {
  Results results;
  std::optional<StoredRow> row;
  std::uint64_t rows = 0;

  void advance() {
    row = results.next();
    if (row) ++rows;
  }
};

/// In the order of the listing: all shards have numbered it in the same way. The joined rows are
/// numbered by their places.
std::uint64_t join(const ShardSet& set, Results& joined) {
  std::vector<Source> sources;
  for (const auto& file : set.files) {
    sources.push_back({open_shard(set, file), std::nullopt, 0});
    sources.back().results.read_header();
    sources.back().advance();
  }
  std::uint64_t rows = 0;
  const auto order = [](const Source& a, const Source& b) {
    return a.row && (!b.row || a.row->number < b.row->number);
  };
  while (true) {
    const auto next = std::ranges::min_element(sources, order);
    if (!next->row) break;
    joined.append_stored(next->results, ++rows);
    next->advance();
  }
  for (size_t i = 0; i < sources.size(); ++i)
    if (const auto expected = marker_of(set.files[i]).rows; expected != sources[i].rows)
      fail_at(set.files[i].string(), "has ", sources[i].rows, " rows, but its marker says ",
              expected, "; run its command again");
  return rows;
}

/// All shards are open at once; a thousand of them are more than a shell usually grants.
void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::uint64_t write_joined(const ShardSet& set, const fs::path& output) {
  const fs::path unfinished = output.string() + ".new";
  remove_result(unfinished, set.kind);
  std::uint64_t rows = 0;
  try {
    Results joined = open(set, unfinished);
    joined.start(dump(set.header));
    rows = join(set, joined);
    joined.finish();
  } catch (...) {
    remove_result(unfinished, set.kind);
    throw;
  }
  move_result(unfinished, output, set.kind);
  return rows;
}

/// Neither a shard nor a foreign file is replaced.
void check_place(const ShardSet& set, const fs::path& output) {
  if (!fs::exists(output)) return;
  for (const auto& file : set.files)
    if (fs::equivalent(file, output))
      fail_usage("option '--output' got '", output.string(), "', which is one of the shards");
  if (fs::file_size(output) != 0) Results(output, set.kind, {}, {.read_only = true}).read_header();
}

int run(const cxxopts::ParseResult& parsed) {
  const ShardSet set = check(parsed.unmatched());
  const fs::path output = follow_links(
      parsed.count("output") ? fs::path(parsed["output"].as<std::string>()) : set.output);
  if (result_kind(output) != set.kind)
    fail_usage("option '--output' got '", output.string(), "', expected a name that ends in ",
               set.files.front().extension().string(), " as the shards do");
  check_place(set, output);
  const OutputLock lock(output);
  allow_many_files();
  const std::uint64_t rows = write_joined(set, output);
  if (!parsed.count("quiet"))
    write_message(output.string() + ": " + format_count(rows) + " rows of " +
                  std::to_string(set.files.size()) + " shards");
  return 0;
}

}  // namespace

Command join_command() {
  return {.name = "join",
          .summary = "join the output files of many machines",
          .description =
              "Join the files of the shards of one `vit batch` or `vit embed`, after checking that "
              "all exist, are complete and come from the same model. The result equals that of a "
              "single run.",
          .usage = "OUT... [-o JOINED]",
          .examples = kExamples,
          .operands = {.least = 1,
                       .noun = "shard",
                       .expected = "the shards' files, or the name they have in common"},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
