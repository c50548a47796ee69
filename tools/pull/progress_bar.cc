#include "tools/pull/progress_bar.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

#include "tools/output/format.h"
#include "tools/output/predictions.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

constexpr size_t kNameWidth = 24, kBarWidth = 20;
constexpr auto kBetweenDrawings = std::chrono::milliseconds(100);
constexpr const char* kClearLine = "\r\x1b[K";

std::string time_left(const ProgressState& state) {
  if (!state.total || state.bytes_per_second <= 0.0 || state.done > *state.total) return "";
  const auto seconds = static_cast<std::uintmax_t>(
      static_cast<double>(*state.total - state.done) / state.bytes_per_second + 0.5);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "  %ju:%02ju left", seconds / 60, seconds % 60);
  return text.data();
}

}  // namespace

std::string progress_line(const ProgressState& state) {
  std::string line = fit(printable(state.name), kNameWidth);
  if (state.total && *state.total != 0) {
    const double fraction = static_cast<double>(state.done) / static_cast<double>(*state.total);
    std::array<char, 32> percent{};
    std::snprintf(percent.data(), percent.size(), " %3.0f%%  ", 100.0 * fraction);
    line += percent.data() + fit(bar(static_cast<float>(fraction), kBarWidth), kBarWidth);
    line += "  " + format_bytes(state.done) + " of " + format_bytes(*state.total);
  } else {
    line += "  " + format_bytes(state.done);
  }
  if (state.bytes_per_second > 0.0)
    line += "  " + format_bytes(static_cast<std::uintmax_t>(state.bytes_per_second)) + "/s";
  return line + time_left(state);
}

ProgressBar::ProgressBar(std::string name, std::optional<std::uintmax_t> total)
    : state_{.name = std::move(name), .total = total}, terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs(kClearLine, stderr);
}

void ProgressBar::update(std::uintmax_t done) {
  if (!terminal_) return;
  if (!first_) first_ = done;
  const auto now = Clock::now();
  if (now - shown_ < kBetweenDrawings) return;
  shown_ = now;
  state_.done = done;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (done > *first_ && seconds > 0.0)
    state_.bytes_per_second = static_cast<double>(done - *first_) / seconds;
  std::fputs((kClearLine + progress_line(state_)).c_str(), stderr);
  drawn_ = true;
}

}  // namespace vit::tools
