/// What a run says about itself: its progress, and how it ended.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/progress.h"
#include "tools/cli/stop_signals.h"
#include "tools/inputs/inputs.h"
#include "tools/rows/done_rows.h"
#include "tools/rows/run/counter.h"
#include "tools/rows/run/run.h"

namespace vit::tools {

/// Counts the rows of a run. `settings` and `done`, the rows of earlier runs, must outlive it.
class RunReport {
 public:
  RunReport(const RunSettings& settings, const DoneRows& done);

  void count(const Row& row);
  std::uint64_t written() const { return written_; }  ///< by this run
  std::uint64_t rows() const { return done_.rows() + written_; }
  std::uint64_t failed() const { return done_.failed() + failed_; }

  void show_progress();
  void clear_progress() { progress_.clear(); }

  /// Whether the rows go to a file, which the next run completes.
  bool resumable() const { return settings_.kind != ResultKind::kStandardOutput; }
  void say_stopped() const;
  /// `unlisted`: rows whose inputs are gone. `closing_text` comes after the numbers of rows.
  void say_done(const Listed& listed, std::uint64_t unlisted,
                const std::string& closing_text) const;
  void say_all_failed() const;

 private:
  RunState state() const;
  std::string output_name() const;

  const RunSettings& settings_;
  const DoneRows& done_;
  ProgressLine progress_;
  std::uint64_t written_ = 0, failed_ = 0;
  Counter counter_;  ///< last: its thread ends first
};

}  // namespace vit::tools
