#include "tools/batch/run.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <exception>

#include "patch/image/pixel_budget.h"
#include "tools/batch/counter.h"
#include "tools/batch/results/done_rows.h"
#include "tools/batch/results/header.h"
#include "tools/batch/results/renumber.h"
#include "tools/batch/results/text_file.h"
#include "tools/batch/retry.h"
#include "tools/cli/progress.h"
#include "tools/cli/stop_signals.h"
#include "tools/output/format.h"
#include "tools/output/lock.h"
#include "tools/output/reason.h"
#include "tools/output/terminal.h"
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

/// One run over a list of inputs.
class RowRun {
 public:
  RowRun(const RunSettings& settings, const RunParts& parts, const StopSignals& signals)
      : settings_(settings),
        parts_(parts),
        signals_(signals),
        header_(with_shard(parts.header, settings.shard)),
        results_(settings.output, settings.kind, settings.shape, {.stop = &signals.flag()}),
        done_(results_, !settings.shard && !settings.keep_numbers, signals.flag()),
        progress_(run_display(settings.quiet, settings.kind == ResultKind::kStandardOutput)),
        counter_(settings, !settings.quiet) {}

  /// The exit status of a run that was stopped, none: it is complete.
  std::optional<int> go_through(const List& inputs) {
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
      progress_.clear();
      write_message("stopped; standard output is not read, the rest is missing");
      return 128 + signals_.number();
    } catch (const DamagedRows&) {
      progress_.clear();
      throw;
    } catch (const ThreadError&) {
      throw;
    } catch (const Error& error) {
      progress_.clear();
      fail(error, resumable() ? "\nthe rows so far are safe; " + advice() : "");
    }
    progress_.clear();
    if (!complete()) return say_stopped();
    results_.finish();
    return std::nullopt;
  }

  /// Reports and marks the run as complete.
  int conclude() {
    const std::uint64_t rows = done_.rows() + written_, failed = done_.failed() + failed_;
    if (listing_.count == 0 && settings_.inputs.boxes)
      fail("no box is selected: all are of other categories or below --box-threshold");
    if (listing_.count == 0)
      fail("no image found: the inputs hold no file that ends in ", data::kImageEndings);
    if (settings_.shard) mark_complete(rows, failed);
    if (!settings_.quiet) say_done(rows, failed);
    // A shard is only a part: whether everything failed is known when all parts exist.
    const bool nothing = failed == rows && rows != 0 && !settings_.shard;
    if (nothing && settings_.quiet)
      write_message(output_name() + ": no row succeeded: " + format_count(failed) + " failed");
    return nothing || (failed != 0 && settings_.strict) ? 1 : 0;
  }

 private:
  void open() {
    const auto stored = results_.read_header();
    if (stored && !settings_.restart)
      check_header(settings_.output, results_, *stored, header_);
    else
      results_.start(dump(header_));
  }

  void list(const List& inputs, const TakeInput& take) {
    // Errors of the listing become rows; errors of the output file must not.
    std::exception_ptr problem;
    listed_ = inputs(signals_.flag(), [&](Input input) {
      listing_.add(input.path);
      if (settings_.shard && !is_ours(*settings_.shard, input.path)) return true;
      try {
        if (done_.contains(input)) return true;
        note_difference();
      } catch (...) {
        problem = std::current_exception();
        return false;
      }
      ++wanted_;
      return take(std::move(input));
    });
    if (problem) std::rethrow_exception(problem);
    if (listed_.complete) unlisted_ = done_.unlisted();
  }

  /// Decided by what was written, not by what was listed: a signal may come between the two.
  bool complete() const { return listed_.complete && written_ == wanted_; }

  void note_difference() {
    if (done_.first_difference() == 0 || difference_noted_) return;
    difference_noted_ = true;
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

  /// The row's place in the file, which never changes. In a shard it is the place in the listing,
  /// after the numbers of an earlier listing: `vit join` joins the shards by these.
  std::uint64_t next_number(const Input& input) {
    if (settings_.keep_numbers) return input.number;
    if (!settings_.shard) return done_.rows() + written_ + 1;
    highest_number_ = std::max({settings_.before.numbered + input.number,
                                done_.highest_number() + 1, highest_number_ + 1});
    return highest_number_;
  }

  void write(Row row) {
    row.input.number = next_number(row.input);
    if (parts_.before_writing) parts_.before_writing(row);
    results_.append(row);
    ++written_;
    failed_ += row.failed() ? 1 : 0;
  }

  void tick() {
    const auto now = std::chrono::steady_clock::now();
    if (now - flushed_ >= kBetweenFlushes) {
      results_.flush();
      flushed_ = now;
    }
    progress_.update([this](size_t columns) {
      return columns == 0 ? progress_text(state()) : progress_bar(state(), columns);
    });
  }

  /// A program that writes one name and waits for its row gets it at once.
  void idle() {
    if (!resumable()) results_.flush();
  }

  /// Earlier rows are counted by the listing, which may not have passed them yet.
  RunState state() const {
    const std::uint64_t earlier = done_.rows();
    return {.done = earlier + written_,
            .earlier = earlier,
            .failed = done_.failed() + failed_,
            .total = counter_.total(),
            .seconds = progress_.seconds()};
  }

  bool resumable() const { return settings_.kind != ResultKind::kStandardOutput; }
  static std::string advice() { return "run the same command again to resume"; }

  std::string output_name() const {
    if (!settings_.shown.empty()) return settings_.shown;
    return resumable() ? settings_.output.string() : "done";
  }

  int say_stopped() {
    assert(signals_.number() != 0);
    const std::uint64_t rows = done_.rows() + written_;
    // A run that is stopped while reading the earlier rows has not counted them all.
    const bool counted = written_ != 0 || done_.ended();
    std::string text = "stopped";
    if (counted) text += " after " + format_count(rows) + (rows == 1 ? " row" : " rows");
    text += "; " + (resumable() ? advice() : "the rest is missing");
    write_message(text);
    return 128 + signals_.number();
  }

  void mark_complete(std::uint64_t rows, std::uint64_t failed) const {
    write_marker(settings_.output,
                 {.rows = rows,
                  .failed = failed,
                  .listed = listing_.count,
                  .listing = listing_.hash,
                  .skipped = listed_.skipped.counts()},
                 settings_.before);
  }

  void say_done(std::uint64_t rows, std::uint64_t failed) const {
    std::string text = output_name() + ": " + format_count(rows) + (rows == 1 ? " row" : " rows");
    if (failed != 0) text += ", " + format_count(failed) + " failed";
    if (parts_.closing_text) text += parts_.closing_text();
    if (written_ == 0) text += ", nothing was left to do";
    if (unlisted_ != 0)
      text += ", " + format_count(unlisted_) +
              (unlisted_ == 1 ? " of a file that is" : " of files that are") +
              " no longer among the inputs";
    if (done_.changed() != 0)
      text += ", " + format_count(done_.changed()) +
              (done_.changed() == 1 ? " file has" : " files have") +
              " changed since (--changed processes them again)";
    if (written_ != 0) text += formatted(", %.1f images/s", rate_of(state()));
    const std::string skipped = listed_.skipped.text();
    if (!skipped.empty()) text += "; " + skipped;
    write_message(text);
  }

  const RunSettings& settings_;
  const RunParts& parts_;
  const StopSignals& signals_;
  Json header_;
  Results results_;
  DoneRows done_;
  ProgressLine progress_;
  ListingSum listing_;
  bool difference_noted_ = false;
  Listed listed_;
  std::uint64_t unlisted_ = 0;
  std::uint64_t wanted_ = 0;  ///< inputs of this shard that had no row
  std::uint64_t written_ = 0, failed_ = 0;
  std::uint64_t highest_number_ = 0;  ///< of the rows of this run
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
  Counter counter_;  ///< last: its thread ends first
};

std::string retry_text(const RunSettings& settings, std::uint64_t rows) {
  const std::string count = format_count(rows);
  if (!settings.retry_changed) return "trying " + count + " failed rows again";
  if (settings.retry_failed) return "processing " + count + " failed or changed rows again";
  return "processing " + count + (rows == 1 ? " changed file again" : " changed files again");
}

/// A run over the failed or changed rows, whose results then replace them.
std::optional<int> retry_rows(const RunSettings& settings, const RunParts& parts,
                              const StopSignals& signals) {
  const Retry retry(settings, with_shard(parts.header, settings.shard), signals.flag());
  const auto stopped_early = [&]() -> std::optional<int> {
    if (signals.number() == 0) return std::nullopt;
    write_message("stopped; run the same command again to resume");
    return 128 + signals.number();
  };
  if (const auto status = stopped_early()) return status;
  if (retry.rows() == 0) {
    remove_result(retry.output(), settings.kind);
    return std::nullopt;
  }
  if (!settings.quiet) write_message(retry_text(settings, retry.rows()));
  RunSettings again = settings;
  again.output = retry.output();
  again.shard.reset();
  again.keep_numbers = true;
  again.restart = retry.stale(parts.header);
  if (const auto status = stopped_early()) return status;  // the comparison may be incomplete
  again.count_inputs = false;                              // they come from the file
  {
    RunParts unsorted = parts;  // rows are sorted after they were replaced
    unsorted.before_writing = nullptr;
    RowRun run(again, unsorted, signals);
    const auto stopped = run.go_through([&](const std::atomic<bool>& stop, const TakeInput& take) {
      return retry.list(stop, take);
    });
    if (stopped) return stopped;
  }
  retry.apply();
  return stopped_early();
}

/// A refused command keeps the marker of a complete shard.
void check_stored_header(const RunSettings& settings, const Json& header) {
  if (!fs::exists(settings.output)) return;
  Results results(settings.output, settings.kind, settings.shape);
  const auto stored = results.read_header();
  if (stored) check_header(settings.output, results, *stored, header);
}

int run_all(const RunSettings& settings, const RunParts& parts, const StopSignals& signals) {
  RowRun run(settings, parts, signals);
  const auto stopped = run.go_through([&](const std::atomic<bool>& stop, const TakeInput& take) {
    return list_inputs(settings.inputs, stop, take);
  });
  return stopped ? *stopped : run.conclude();
}

}  // namespace

int run_rows(RunSettings settings, const RunParts& parts) {
  const StopSignals signals;
  if (settings.shard && settings.shard->source != kShardOption && !settings.quiet)
    write_message("part " + std::to_string(settings.shard->index) + " of " +
                  std::to_string(settings.shard->count) + ", counted from 0, by " +
                  settings.shard->source + "; --shards 1 takes everything");
  std::optional<OutputLock> lock;
  if (settings.kind != ResultKind::kStandardOutput) lock.emplace(settings.output);
  if (settings.shard) {
    if (!settings.restart) check_stored_header(settings, with_shard(parts.header, settings.shard));
    settings.before = take_marker(settings.output, settings.restart);
  }
  if (settings.restart && settings.kind != ResultKind::kStandardOutput)
    remove_result(retry_file(settings.output), settings.kind);
  if (settings.retry_failed || settings.retry_changed)
    if (const auto stopped = retry_rows(settings, parts, signals)) return *stopped;
  if (parts.before_run) parts.before_run(signals.flag());
  try {
    return run_all(settings, parts, signals);
  } catch (const Misnumbered& error) {
    if (!settings.quiet)
      write_message(settings.output.string() + ": " + error.what() +
                    ", which is not its place; all rows are renumbered from 1 on");
    renumber(settings.output, settings.kind, settings.shape);
    if (!std::ranges::all_of(settings.inputs.operands, can_be_read_twice))
      fail(settings.output.string(), ": its rows were renumbered, and the list of inputs ",
           "cannot be read twice; run the same command again");
    return run_all(settings, parts, signals);
  }
}

}  // namespace vit::tools
