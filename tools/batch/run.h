/// A run over many inputs: what `vit batch` and `vit embed` have in common.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "tools/batch/inputs/inputs.h"
#include "tools/batch/pipeline.h"
#include "tools/batch/results/marker.h"
#include "tools/batch/results/results.h"
#include "tools/batch/results/shard.h"
#include "tools/cli/command.h"
#include "tools/output/json.h"

namespace vit::tools {

struct RunSettings {
  InputSettings inputs;
  std::filesystem::path output;  ///< the shard's own, where there is one
  ResultKind kind = ResultKind::kCsv;
  RowShape shape;
  std::optional<Shard> shard;
  Marker before{};  ///< of the shard, when it was last complete
  bool restart = false;
  bool keep_numbers = false;  ///< rows have the numbers of their inputs
  bool retry_failed = false;
  bool strict = false;  ///< damaged images are failed rows, and failed rows are a failure
  bool quiet = false;
  PipelineSize size;
};

/// The inputs of a run, for the command table.
inline constexpr Operands kInputOperands{
    .least = 1, .noun = "input", .expected = "folders, files, patterns, .tar files, @LIST or -"};

/// -o, --restart, --retry-failed, --strict, --null as the group "", --batch and --quiet.
void add_run_options(cxxopts::Options& options);
/// Without shape and kind. `threads` 0: all of the machine's.
RunSettings parse_run_settings(const cxxopts::ParseResult& arguments, size_t threads);

/// The kind of output; a shard gets its own name. Throws a UsageError if they do not go together.
void set_kind(RunSettings& settings, ResultKind kind);

struct RunParts {
  Json header;  ///< without the shard
  /// The rest of the row; in any thread. What it throws is the row's reason, except WaitStopped
  /// after `stop` became true: the row is left for the next run.
  std::function<void(Row& row, const std::atomic<bool>& stop)> answer;
  /// In order, before the row is written; may make it a failed one.
  std::function<void(Row& row)> before_writing;
  /// Before the first row, while the output is locked; ends early when `stop` becomes true.
  std::function<void(const std::atomic<bool>& stop)> before_run{};
  /// What else the last line says of the run, such as ", 3 linked into 2 folders".
  std::function<std::string()> closing_text{};
};

/// The image of a row, which gets its damage. `strict`: that is an error.
patch::Image load_image(Row& row, const patch::DecodeOptions& options, bool strict);

/// The exit status: 0 when every input has its row in the output, 1 when no row (with `strict`: not
/// every row) succeeded, 128 + N when signal N came before all rows were written.
int run_rows(RunSettings settings, const RunParts& parts);

}  // namespace vit::tools
