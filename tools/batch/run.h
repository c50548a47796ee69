/// A run over many inputs: what `vit batch` and `vit embed` have in common.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "tools/batch/inputs.h"
#include "tools/batch/pipeline.h"
#include "tools/batch/results.h"
#include "tools/batch/shard.h"
#include "tools/options.h"
#include "tools/output/json.h"

namespace vit::tools {

struct RunSettings {
  InputSettings inputs;
  std::filesystem::path output;  ///< the shard's own, where there is one
  ResultKind kind = ResultKind::kCsv;
  RowShape shape;
  std::optional<Shard> shard;
  bool restart = false;
  bool retry_failed = false;
  bool strict = false;  ///< failed rows are a failure
  bool quiet = false;
  PipelineSize size;
};

/// -o, --restart, --retry-failed, --strict, --null as the group "", --batch and --quiet.
void add_run_options(cxxopts::Options& options);
/// Without shape and kind. `threads` 0: all of the machine's.
RunSettings parse_run_settings(const cxxopts::ParseResult& arguments, size_t threads);

/// The kind of output; a shard gets its own name. Throws a UsageError if they do not go together.
void set_kind(RunSettings& settings, ResultKind kind);

struct RunParts {
  Json header;  ///< without the shard
  /// The rest of the row; in any thread. What it throws is the row's reason.
  std::function<void(Row& row)> answer;
  /// In order, before the row is written; may make it a failed one.
  std::function<void(Row& row)> before_writing;
};

/// The exit status: 0 when every input has its row in the output, 1 when no row (with `strict`: not
/// every row) succeeded, 128 + N when signal N came before all rows were written.
int run_rows(const RunSettings& settings, const RunParts& parts);

}  // namespace vit::tools
