#include "tools/rows/run/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>

#include "patch/image/pixel_budget.h"
#include "tools/cli/stop_signals.h"
#include "tools/output/format.h"
#include "tools/output/lock.h"
#include "tools/output/reason.h"
#include "tools/output/terminal.h"
#include "tools/rows/done_rows.h"
#include "tools/rows/header.h"
#include "tools/rows/marker.h"
#include "tools/rows/renumber.h"
#include "tools/rows/run/counter.h"
#include "tools/rows/run/retry.h"
#include "tools/rows/run/run_report.h"
#include "tools/rows/text_file.h"
#include "vit/base/atomic_file.h"
#include "vit/base/error.h"
#include "vit/base/thread_error.h"
#include "vit/data/image_files.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr auto kBetweenFlushes = std::chrono::milliseconds(200);

/// Hash of all listed inputs, of all shards, in order.
struct ListingSum {
  std::uint64_t count = 0;
  std::uint64_t hash = 0;

  void add(std::string_view path) {
    ++count;
    hash = hash * 0x100000001b3 + path_hash(path);
  }
};

using List = std::function<Listed(const std::atomic<bool>& stop, const TakeInput& take)>;

/// What this shard has to do.
struct Listing {
  ListingSum sum;
  Listed listed;
  std::uint64_t unlisted = 0;  ///< earlier rows whose inputs are gone
  std::uint64_t wanted = 0;    ///< inputs of this shard that had no row
  bool difference_was_noted = false;
};

/// The rows' places in the file, which never change. In a shard they are the places in the listing,
/// after the numbers of an earlier listing: `vit join` joins the shards by these.
class RowNumbers {
 public:
  /// `before`: the marker of the shard, when it was last complete.
  RowNumbers(const RunSettings& settings, const Marker& before, const DoneRows& done)
      : settings_(settings), first_(before.numbered), done_(done) {}

  /// For the row after `written` others of this run.
  std::uint64_t next(const Input& input, std::uint64_t written) {
    if (settings_.keep_numbers) return input.number;
    if (!settings_.shard) return done_.rows() + written + 1;
    highest_ = std::max({first_ + input.number, done_.highest_number() + 1, highest_ + 1});
    return highest_;
  }

 private:
  const RunSettings& settings_;
  std::uint64_t first_;
  const DoneRows& done_;
  std::uint64_t highest_ = 0;  ///< of this run
};

/// One run over a list of inputs.
class RowRun {
 public:
  /// `before`: the marker of the shard, when it was last complete.
  RowRun(const RunSettings& settings, const RunParts& parts, const StopSignals& signals,
         const Marker& before)
      : settings_(settings),
        parts_(parts),
        signals_(signals),
        before_(before),
        results_(settings.output, settings.kind, settings.shape, {.stop = &signals.flag()}),
        done_(results_, !settings.shard && !settings.keep_numbers, signals.flag()),
        numbers_(settings, before, done_),
        report_(settings, done_) {}

  /// False if it was stopped: not every input has its row.
  bool go_through(const List& inputs) {
    open();
    try {
      run_pipeline(settings_.size, signals_.flag(),
                   {.list = [&](const TakeInput& take) { list(inputs, take); },
                    .work = [this](Input input) { return work(std::move(input)); },
                    .write = [this](Row row) { write(std::move(row)); },
                    .tick = [this] { tick(); },
                    .idle = [this] { idle(); }});
      results_.flush();
    } catch (const OutputClosed&) {
      throw;
    } catch (const OutputStalled&) {
      report_.clear_progress();
      write_message("stopped; standard output is not read, the rest is missing");
      return false;
    } catch (const DamagedRows&) {
      report_.clear_progress();
      throw;
    } catch (const ThreadError&) {
      throw;
    } catch (const Error& error) {
      report_.clear_progress();
      fail_again(error, report_.resumable()
                            ? std::string("\nthe rows so far are safe; ") + kResumeAdvice
                            : "");
    }
    report_.clear_progress();
    if (!complete()) {
      report_.say_stopped();
      return false;
    }
    results_.finish();
    return true;
  }

  /// Reports and marks the run as complete. Returns the exit status.
  int conclude() {
    const std::uint64_t rows = report_.rows(), failed = report_.failed();
    if (listing_.sum.count == 0 && settings_.inputs.boxes)
      fail("no box is selected: all are of other categories or below --box-threshold");
    if (listing_.sum.count == 0)
      fail("no image found: the inputs hold no file that ends in ", data::kImageEndings);
    if (settings_.shard) mark_complete();
    if (!settings_.quiet)
      report_.say_done(listing_.listed, listing_.unlisted,
                       parts_.closing_text ? parts_.closing_text() : "");
    // A shard is only a part: whether everything failed is known when all parts exist.
    const bool nothing = failed == rows && rows != 0 && !settings_.shard;
    if (nothing && settings_.quiet) report_.say_all_failed();
    return nothing || (failed != 0 && settings_.strict) ? 1 : 0;
  }

 private:
  void open() {
    const Json header = with_shard(parts_.header, settings_.shard);
    const auto stored = results_.read_header();
    if (stored && !settings_.restart)
      check_header(settings_.output, results_, *stored, header);
    else
      results_.start(dump(header));
  }

  void list(const List& inputs, const TakeInput& take) {
    // Errors of the listing become rows; errors of the output file must not.
    std::exception_ptr problem;
    listing_.listed = inputs(signals_.flag(), [&](Input input) {
      listing_.sum.add(input.path);
      if (settings_.shard && !is_ours(*settings_.shard, input.path)) return true;
      try {
        if (done_.contains(input)) return true;
        note_difference();
      } catch (...) {
        problem = std::current_exception();
        return false;
      }
      ++listing_.wanted;
      return take(std::move(input));
    });
    if (problem) std::rethrow_exception(problem);
    if (listing_.listed.complete) listing_.unlisted = done_.unlisted();
  }

  /// Decided by what was written, not by what was listed: a signal may come between the two.
  bool complete() const { return listing_.listed.complete && report_.written() == listing_.wanted; }

  void note_difference() {
    if (done_.first_difference() == 0 || listing_.difference_was_noted) return;
    listing_.difference_was_noted = true;
    if (!settings_.quiet)
      write_message(
          settings_.output.string() +
          ": files were added or removed since the earlier run; all its rows are kept, new files "
          "are appended");
  }

  std::optional<Row> work(Input input) const {
    Row row{std::move(input), {}, {}, {}};
    if (settings_.shape.stamps) row.stamp = stamp_of(row.input);
    try {
      parts_.answer(row, signals_.flag());
    } catch (const patch::WaitStopped&) {
      return std::nullopt;
    } catch (const std::exception& error) {
      row.reason = reason_of(error, row.input.path);
    }
    return row;
  }

  void write(Row row) {
    row.input.number = numbers_.next(row.input, report_.written());
    if (parts_.before_writing) parts_.before_writing(row);
    results_.append(row);
    report_.count(row);
  }

  void tick() {
    const auto now = std::chrono::steady_clock::now();
    if (now - flushed_ >= kBetweenFlushes) {
      results_.flush();
      flushed_ = now;
    }
    report_.show_progress();
  }

  /// A program that writes one name and waits for its row gets it at once.
  void idle() {
    if (!report_.resumable()) results_.flush();
  }

  void mark_complete() const {
    write_marker(settings_.output,
                 {.rows = report_.rows(),
                  .failed = report_.failed(),
                  .listed = listing_.sum.count,
                  .listing = listing_.sum.hash,
                  .skipped = listing_.listed.skipped.counts()},
                 before_);
  }

  const RunSettings& settings_;
  const RunParts& parts_;
  const StopSignals& signals_;
  const Marker before_;
  Results results_;
  DoneRows done_;
  RowNumbers numbers_;
  RunReport report_;
  Listing listing_;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

std::string retry_text(const RunSettings& settings, std::uint64_t rows) {
  const std::string count = format_count(rows);
  if (!settings.retry_changed) return "trying " + count + " failed rows again";
  if (settings.retry_failed) return "processing " + count + " failed or changed rows again";
  return "processing " + count + (rows == 1 ? " changed file again" : " changed files again");
}

/// A run over the failed or changed rows, whose results then replace them. False: it was stopped.
bool retry_rows(const RunSettings& settings, const RunParts& parts, const StopSignals& signals) {
  const Retry retry(settings, with_shard(parts.header, settings.shard), signals.flag());
  const auto stopped_early = [&] {
    if (!signals.flag()) return false;
    write_message(std::string("stopped; ") + kResumeAdvice);
    return true;
  };
  if (stopped_early()) return false;
  if (retry.rows() == 0) {
    remove_result(retry.output(), settings.kind);
    return true;
  }
  if (!settings.quiet) write_message(retry_text(settings, retry.rows()));
  RunSettings again = settings;
  again.output = retry.output();
  again.shard.reset();
  again.keep_numbers = true;
  again.restart = retry.stale(parts.header);
  if (stopped_early()) return false;  // the comparison may be incomplete
  again.count_inputs = false;         // they come from the file
  {
    RunParts unsorted = parts;  // rows are sorted after they were replaced
    unsorted.before_writing = nullptr;
    RowRun run(again, unsorted, signals, {});
    const bool complete = run.go_through([&](const std::atomic<bool>& stop, const TakeInput& take) {
      return retry.list(stop, take);
    });
    if (!complete) return false;
  }
  retry.apply();
  return !stopped_early();
}

/// A refused command keeps the marker of a complete shard.
void check_stored_header(const RunSettings& settings, const Json& header) {
  if (!fs::exists(settings.output)) return;
  Results results(settings.output, settings.kind, settings.shape);
  const auto stored = results.read_header();
  if (stored) check_header(settings.output, results, *stored, header);
}

RunEnd run_all(const RunSettings& settings, const RunParts& parts, const StopSignals& signals,
               const Marker& before) {
  RowRun run(settings, parts, signals, before);
  const bool complete = run.go_through([&](const std::atomic<bool>& stop, const TakeInput& take) {
    return list_inputs(settings.inputs, stop, take);
  });
  return {.complete = complete, .status = complete ? run.conclude() : signals.exit_status()};
}

}  // namespace

RunEnd run_rows(const RunSettings& settings, const RunParts& parts, const StopSignals& signals) {
  if (settings.shard && settings.shard->source != kShardOption && !settings.quiet)
    write_message("part " + std::to_string(settings.shard->index) + " of " +
                  std::to_string(settings.shard->count) + ", counted from 0, by " +
                  settings.shard->source + "; --shards 1 takes everything");
  std::optional<OutputLock> lock;
  if (settings.kind != ResultKind::kStandardOutput) lock.emplace(settings.output);
  Marker before;
  if (settings.shard) {
    if (!settings.restart) check_stored_header(settings, with_shard(parts.header, settings.shard));
    before = take_marker(settings.output, settings.restart);
  }
  if (settings.restart && settings.kind != ResultKind::kStandardOutput)
    remove_result(retry_file(settings.output), settings.kind);
  if (settings.retry_failed || settings.retry_changed)
    if (!retry_rows(settings, parts, signals)) return {.status = signals.exit_status()};
  if (parts.before_run) parts.before_run(signals.flag());
  try {
    return run_all(settings, parts, signals, before);
  } catch (const Misnumbered& error) {
    if (!settings.quiet)
      write_message(settings.output.string() + ": " + error.what() +
                    ", which is not its place; all rows are renumbered from 1 on");
    renumber(settings.output, settings.kind, settings.shape);
    if (!std::ranges::all_of(settings.inputs.operands, can_be_read_twice))
      fail_at(settings.output.string(), "its rows were renumbered, and the list of inputs ",
              "cannot be read twice; run the same command again");
    return run_all(settings, parts, signals, before);
  }
}

}  // namespace vit::tools
