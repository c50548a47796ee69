#include "tools/rows/run/run_report.h"

#include "tools/output/format.h"
#include "tools/output/terminal.h"

namespace vit::tools {

RunReport::RunReport(const RunSettings& settings, const DoneRows& done)
    : settings_(settings),
      done_(done),
      progress_(run_display(settings.quiet, settings.kind == ResultKind::kStandardOutput)),
      counter_(settings, !settings.quiet) {}

void RunReport::count(const Row& row) {
  ++written_;
  failed_ += row.failed() ? 1 : 0;
}

void RunReport::show_progress() {
  progress_.update([this](size_t columns) {
    return columns == 0 ? progress_text(state()) : progress_bar(state(), columns);
  });
}

/// Earlier rows are counted by the listing, which may not have passed them yet.
RunState RunReport::state() const {
  const std::uint64_t earlier = done_.rows();
  return {.done = earlier + written_,
          .earlier = earlier,
          .failed = done_.failed() + failed_,
          .total = counter_.total(),
          .seconds = progress_.seconds()};
}

std::string RunReport::output_name() const {
  if (!settings_.shown.empty()) return settings_.shown;
  return resumable() ? settings_.output.string() : "done";
}

void RunReport::say_stopped() const {
  // A run that is stopped while reading the earlier rows has not counted them all.
  const bool counted = written_ != 0 || done_.ended();
  std::string text = "stopped";
  if (counted) text += " after " + format_count(rows()) + (rows() == 1 ? " row" : " rows");
  text += std::string("; ") + (resumable() ? kResumeAdvice : "the rest is missing");
  write_message(text);
}

void RunReport::say_done(const Listed& listed, std::uint64_t unlisted,
                         const std::string& closing_text) const {
  std::string text = output_name() + ": " + format_count(rows()) + (rows() == 1 ? " row" : " rows");
  if (failed() != 0) text += ", " + format_count(failed()) + " failed";
  text += closing_text;
  if (written_ == 0) text += ", nothing was left to do";
  if (unlisted != 0)
    text += ", " + format_count(unlisted) +
            (unlisted == 1 ? " of a file that is" : " of files that are") +
            " no longer among the inputs";
  if (done_.changed() != 0)
    text += ", " + format_count(done_.changed()) +
            (done_.changed() == 1 ? " file has" : " files have") +
            " changed since (--changed processes them again)";
  if (written_ != 0) text += formatted(", %.1f images/s", rate_of(state()));
  const std::string skipped = listed.skipped.text();
  if (!skipped.empty()) text += "; " + skipped;
  write_message(text);
}

void RunReport::say_all_failed() const {
  write_message(output_name() + ": no row succeeded: " + format_count(failed()) + " failed");
}

}  // namespace vit::tools
