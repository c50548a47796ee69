#include "tools/cli/progress.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/output/format.h"
#include "tools/output/predictions.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

constexpr size_t kNameWidth = 24, kBarWidth = 20;
constexpr auto kBetweenDrawings = std::chrono::milliseconds(200);
constexpr auto kBetweenLines = std::chrono::seconds(10);
constexpr const char* kClearLine = "\r\x1b[K";

bool output_is_file() {
  struct stat status {};
  return fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
}

size_t error_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

double rate_of(const RunState& state) {
  return state.seconds > 0.0 ? static_cast<double>(state.done - state.earlier) / state.seconds
                             : 0.0;
}

std::string progress_text(const RunState& state) {
  std::string text = format_count(state.done);
  if (state.total) text += " of " + format_count(*state.total);
  text += formatted(" rows, %.1f images/s", rate_of(state));
  const std::string left = time_left(state.done, state.total, rate_of(state));
  if (!left.empty()) text += ", " + left;
  if (state.failed != 0) text += ", " + format_count(state.failed) + " failed";
  return text;
}

std::string progress_bar(const RunState& state, std::size_t columns) {
  std::string line;
  if (state.total && *state.total != 0 && columns >= 2 * kBarWidth) {
    const double fraction = static_cast<double>(state.done) / static_cast<double>(*state.total);
    line = percent_bar(fraction) + "  ";
  }
  line += progress_text(state);
  // The last column stays free, or some terminals start a new line.
  return display_width(line) < columns ? line : fit(line, columns - 1);
}

void DownloadState::advance(std::uint64_t bytes, double seconds) {
  if (!earlier) earlier = bytes;
  done = bytes;
  if (done > *earlier && seconds > 0.0)
    bytes_per_second = static_cast<double>(done - *earlier) / seconds;
}

std::string progress_text(const DownloadState& state) {
  std::string line = fit(printable(state.name), kNameWidth);
  if (state.total && *state.total != 0)
    line += " " + percent_bar(static_cast<double>(state.done) / static_cast<double>(*state.total)) +
            "  " + format_bytes(state.done) + " of " + format_bytes(*state.total);
  else
    line += "  " + format_bytes(state.done);
  if (state.bytes_per_second > 0.0)
    line += "  " + format_bytes(static_cast<std::uint64_t>(state.bytes_per_second)) + "/s";
  const std::string left = time_left(state.done, state.total, state.bytes_per_second);
  return left.empty() ? line : line + "  " + left;
}

std::string count_text(std::string_view what, std::uint64_t done, std::uint64_t total) {
  return std::string(what) + " " + format_count(done) + " of " + format_count(total);
}

std::string percent_bar(double fraction) {
  const double shown = std::min(fraction, 1.0);
  return padded(format_percent(shown, 0), 5) + " " +
         fit(bar(static_cast<float>(shown), kBarWidth), kBarWidth);
}

std::string time_left(std::uint64_t done, std::optional<std::uint64_t> total, double per_second) {
  if (!total || per_second <= 0.0 || done > *total) return "";
  return format_time(static_cast<double>(*total - done) / per_second) + " left";
}

ProgressLine::ProgressLine(Show show) : terminal_(isatty(STDERR_FILENO) == 1), show_(show) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::update(const std::function<std::string(size_t)>& text) {
  if (show_ == Show::kNever || (!terminal_ && show_ == Show::kOnTerminal)) return;
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? Clock::duration(kBetweenDrawings) : kBetweenLines)) return;
  shown_ = now;
  if (!terminal_) return write_message(text(0));
  const size_t columns = error_columns();
  const std::string line = text(columns);
  // The last column stays free, or some terminals start a new line.
  std::fprintf(stderr, "%s%s", kClearLine,
               (display_width(line) < columns ? line : fit(line, columns - 1)).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::update(const RunState& state) {
  update([&](size_t columns) {
    return columns == 0 ? progress_text(state) : progress_bar(state, columns);
  });
}

void ProgressLine::clear() {
  if (drawn_) std::fputs(kClearLine, stderr);
  drawn_ = false;
}

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

ProgressLine::Show run_display(bool quiet, bool rows_on_output) {
  // Also a pipe: what reads it may write to the same terminal (`vit batch … -o - | grep tabby`).
  const bool shared = isatty(STDERR_FILENO) == 1 && rows_on_output && !output_is_file();
  return quiet || shared ? ProgressLine::Show::kNever : ProgressLine::Show::kAlsoElsewhere;
}

}  // namespace vit::tools
