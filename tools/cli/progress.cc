#include "tools/cli/progress.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "tools/output/format.h"
#include "tools/output/predictions.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

constexpr size_t kBarWidth = 20;
constexpr auto kBetweenDrawings = std::chrono::milliseconds(200);
constexpr auto kBetweenLines = std::chrono::seconds(10);
constexpr const char* kClearLine = "\r\x1b[K";

std::string time_left(const RunState& state) {
  const double rate = rate_of(state);
  if (!state.total || rate <= 0.0 || state.done > *state.total) return "";
  const auto seconds =
      static_cast<std::uint64_t>(static_cast<double>(*state.total - state.done) / rate + 0.5);
  std::array<char, 48> text{};
  if (seconds < 3600)
    std::snprintf(text.data(), text.size(), "%ju:%02ju", std::uintmax_t{seconds / 60},
                  std::uintmax_t{seconds % 60});
  else
    std::snprintf(text.data(), text.size(), "%ju:%02ju:%02ju", std::uintmax_t{seconds / 3600},
                  std::uintmax_t{seconds / 60 % 60}, std::uintmax_t{seconds % 60});
  return std::string(", ") + text.data() + " left";
}

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
  std::array<char, 48> rate{};
  std::snprintf(rate.data(), rate.size(), " rows, %.1f images/s", rate_of(state));
  text += rate.data() + time_left(state);
  if (state.failed != 0) text += ", " + format_count(state.failed) + " failed";
  return text;
}

std::string progress_bar(const RunState& state, std::size_t columns) {
  std::string line;
  if (state.total && *state.total != 0 && columns >= 2 * kBarWidth) {
    const double fraction = static_cast<double>(state.done) / static_cast<double>(*state.total);
    std::array<char, 16> percent{};
    std::snprintf(percent.data(), percent.size(), "%3.0f%% ", 100.0 * std::min(fraction, 1.0));
    line = percent.data() + fit(bar(static_cast<float>(fraction), kBarWidth), kBarWidth) + "  ";
  }
  line += progress_text(state);
  // The last column stays free, or some terminals start a new line.
  return display_width(line) < columns ? line : fit(line, columns - 1);
}

RunProgress::RunProgress(bool quiet, bool rows_on_output)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {
  // Also a pipe: what reads it may write to the same terminal (`vit batch … -o - | grep tabby`).
  if (terminal_ && rows_on_output && !output_is_file()) quiet_ = true;
}

RunProgress::~RunProgress() {
  clear();
}

void RunProgress::update(const std::function<RunState()>& state) {
  const auto now = Clock::now();
  if (quiet_ || now - shown_ < (terminal_ ? Clock::duration(kBetweenDrawings) : kBetweenLines))
    return;
  shown_ = now;
  if (!terminal_) return write_message(progress_text(state()));
  std::fprintf(stderr, "%s%s", kClearLine, progress_bar(state(), error_columns()).c_str());
  drawn_ = true;
}

void RunProgress::clear() {
  if (drawn_) std::fputs(kClearLine, stderr);
  drawn_ = false;
}

double RunProgress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

}  // namespace vit::tools
