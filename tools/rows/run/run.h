/// A run over many inputs, shared by `vit batch` and `vit embed`.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "tools/cli/command.h"
#include "tools/cli/model_options.h"
#include "tools/cli/stop_signals.h"
#include "tools/inputs/inputs.h"
#include "tools/output/json.h"
#include "tools/rows/results.h"
#include "tools/rows/run/pipeline.h"
#include "tools/rows/shard.h"

namespace vit::tools {

struct RunSettings {
  InputSettings inputs;
  std::filesystem::path output;  ///< that of the shard, if there is one
  std::string shown{};           ///< name of the output in messages on success; empty: `output`
  ResultKind kind = ResultKind::kCsv;
  RowShape shape;
  std::optional<Shard> shard;
  bool restart = false;
  bool keep_numbers = false;  ///< rows have the numbers of their inputs
  bool count_inputs = true;   ///< for the remaining time
  bool retry_failed = false;
  bool retry_changed = false;  ///< files that have changed since their rows were written
  bool strict = false;         ///< damaged images are failed rows, and failed rows are a failure
  bool quiet = false;
  PipelineSize size;
};

/// The inputs of a run, for the command table.
inline constexpr Operands kInputOperands{
    .least = 1,
    .noun = "input",
    .expected = "folders, files, patterns, .tar, .tar.gz and .zip files, @LIST or -"};

/// --restart, --retry-failed, --changed, --strict, --every, --null, --batch and --quiet, as the
/// group "Run".
void add_run_options(cxxopts::Options& options);
/// Without shape and kind, and with the output as it was given. `threads` 0: one per available
/// core.
RunSettings parse_run_settings(const cxxopts::ParseResult& arguments, size_t threads);

/// Where the rows of a run go.
struct RowOutput {
  ResultKind kind = ResultKind::kCsv;
  std::filesystem::path file;
  std::string shown{};  ///< see RunSettings
};

/// The parsed settings with this output, or the shard's part of it. Throws a UsageError if they
/// contradict.
RunSettings with_output(RunSettings parsed, const RowOutput& output);

/// The settings with rows of this shape, in the format of an existing output, else the newest. The
/// header gets that format.
RunSettings with_rows(RunSettings settings, const RowShape& shape, Json& header);

struct RunParts {
  Json header;  ///< without the shard
  /// Fills the row; in any thread. An exception becomes the row's reason, except WaitStopped after
  /// `stop` became true: the row is left for the next run.
  std::function<void(Row& row, const std::atomic<bool>& stop)> answer;
  /// In order, before the row is written; may make it a failed one.
  std::function<void(Row& row)> before_writing;
  /// Before the first row, while the output is locked; ends early when `stop` becomes true.
  std::function<void(const std::atomic<bool>& stop)> before_run{};
  /// Text for the last line of the run, such as ", 3 linked into 2 folders".
  std::function<std::string()> closing_text{};
};

/// One image per worker from file to answer: each decodes while others compute, and the kernels
/// need not wait for each other. Images of different sizes share all threads instead. Only for
/// load_classifier(): open_model() encodes labels in words on all threads.
ModelSettings for_rows(ModelSettings settings);

/// The image of a row; sets the row's facts, and its damage, which is an error if the settings are
/// strict.
patch::Image load_image(Row& row, const patch::DecodeOptions& options, const RunSettings& settings);

struct RunEnd {
  bool complete = false;  ///< every input has its row in the output
  int status = 0;  ///< the exit status; 1 when no row (with `strict`: not every row) succeeded
};

/// Incomplete when a signal came before all rows were written.
RunEnd run_rows(const RunSettings& settings, const RunParts& parts, const StopSignals& signals);

}  // namespace vit::tools
