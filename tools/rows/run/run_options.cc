#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/cli/check_output.h"
#include "tools/cli/word_options.h"
#include "tools/rows/header.h"
#include "tools/rows/run/run.h"
#include "tools/sources/video_frames.h"
#include "vit/base/atomic_file.h"
#include "vit/base/error.h"
#include "vit/base/thread_pool.h"
#include "vit/data/directory.h"

namespace vit::tools {
namespace {

constexpr size_t kWindowPerWorker = 16;

/// Output to standard output cannot be resumed.
void check_output(const RunSettings& run) {
  if (run.kind != ResultKind::kStandardOutput) return;
  if (run.shard)
    fail_usage("part ", run.shard->index, " of ", run.shard->count, " (", run.shard->source,
               ") cannot go to standard output, expected -o FILE: each part writes its own");
  if (run.restart || run.retry_failed || run.retry_changed)
    fail_usage(run.restart        ? "--restart"
               : run.retry_failed ? "--retry-failed"
                                  : "--changed",
               " needs a resumable output; use -o FILE");
}

/// What the operands and options name besides images: an output must not replace it.
std::vector<std::filesystem::path> named_files(const cxxopts::ParseResult& arguments,
                                               const InputSettings& inputs) {
  std::vector<std::filesystem::path> files = list_files(inputs.operands);
  for (const auto* option : {"boxes", "groups", "labels"})
    for (const auto& text : values_of(arguments, option))
      files.emplace_back(text.starts_with('@') ? text.substr(1) : text);
  std::error_code ignored;
  std::erase_if(files,
                [&](const auto& file) { return std::filesystem::is_directory(file, ignored); });
  return files;
}

}  // namespace

void add_run_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Run",
      {
          {"restart", "start again and discard the rows of an earlier run"},
          {"retry-failed", "process the failed rows of an earlier run again, in place"},
          {"changed", "process files again, in place, whose size or time is not that of their row"},
          {"strict",
           "exit status 1 if any row has failed, not only if all have; rows of damaged images are "
           "failed"},
          {"every", "time between the frames of videos, such as 1s or 500ms (default: no videos)",
           text(), "TIME"},
          {"0,null", "names in lists end with a zero byte instead of a line break"},
          {"batch", "most images in progress (default: 16 per thread)", text(), "N"},
          {"q,quiet", "no progress"},
      });
}

RunSettings parse_run_settings(const cxxopts::ParseResult& arguments, size_t threads) {
  RunSettings settings;
  settings.inputs.operands = arguments.unmatched();
  settings.inputs.separator = arguments.count("null") ? '\0' : '\n';
  if (arguments.count("every")) {
    const auto& time = arguments["every"].as<std::string>();
    const auto every = parse_duration(time);
    if (!every)
      fail_usage("option '--every' got '", time,
                 "', expected a time of 1ms to 11 days, such as 1s, 500ms, 2m or 1h");
    settings.inputs.every = *every;
  }
  for (const auto& operand : settings.inputs.operands)
    if (operand.starts_with('@') && access(operand.c_str() + 1, R_OK) != 0)
      fail_usage("'", operand, "': cannot read this list: ", std::strerror(errno));
  check_operands(settings.inputs);
  if (!arguments.count("output")) fail_usage("no output given, expected -o OUT");
  settings.output = arguments["output"].as<std::string>();
  check_outputs({settings.output}, named_files(arguments, settings.inputs));
  settings.restart = arguments.count("restart") != 0;
  settings.retry_failed = arguments.count("retry-failed") != 0;
  settings.retry_changed = arguments.count("changed") != 0;
  settings.strict = arguments.count("strict") != 0;
  settings.quiet = arguments.count("quiet") != 0;
  settings.size.workers = threads != 0 ? threads : available_threads();
  settings.size.window =
      arguments.count("batch")
          ? parse_count("--batch", arguments["batch"].as<std::string>(), 1, 1'000'000)
          : kWindowPerWorker * settings.size.workers;
  if (settings.restart && (settings.retry_failed || settings.retry_changed))
    fail_usage("--restart and ", settings.retry_failed ? "--retry-failed" : "--changed",
               " given, expected one of them");
  settings.shard = find_shard(arguments, [](const char* name) { return std::getenv(name); });
  return settings;
}

ModelSettings for_rows(ModelSettings settings) {
  if (settings.classifier.max_patches == 0) settings.classifier.threads = 1;
  return settings;
}

patch::Image load_image(Row& row, const patch::DecodeOptions& options,
                        const RunSettings& settings) {
  patch::Image image;
  if (settings.shape.facts && !row.input.video) {
    const auto& stop = options.stop != nullptr ? *options.stop : data::kNeverStop;
    const std::vector<std::byte> bytes = read_bytes(row.input, stop);
    row.facts = patch::photo_facts_of_file(bytes);
    image = load_image(row.input, bytes, options);
  } else {
    image = load_image(row.input, options);
  }
  row.damage = image.damage;
  if (settings.strict && !row.damage.empty()) fail_at(row.input.path, "damaged: ", row.damage);
  return image;
}

RunSettings with_output(RunSettings settings, const RowOutput& output) {
  settings.kind = output.kind;
  settings.output = output.file;
  settings.shown = output.shown;
  check_output(settings);
  if (settings.shard) settings.output = shard_file(settings.output, *settings.shard);
  // Lock, checksums and temporary files have names after that of the file itself.
  if (settings.kind != ResultKind::kStandardOutput) settings.output = follow_links(settings.output);
  return settings;
}

RunSettings with_rows(RunSettings settings, const RowShape& shape, Json& header) {
  settings.shape = shape;
  if (settings.restart) {
    settings.shape.stamps = settings.kind != ResultKind::kStandardOutput;
    header["format"] = kRowFormat;
  } else {
    match_format(settings.output, settings.kind, settings.shape, header);
  }
  return settings;
}

}  // namespace vit::tools
