/// Progress of a run: a bar on a terminal, elsewhere an occasional line.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace vit::tools {

/// Progress of a run over many rows.
struct RunState {
  std::uint64_t done = 0;     ///< rows, those of earlier runs included
  std::uint64_t earlier = 0;  ///< rows of earlier runs
  std::uint64_t failed = 0;
  std::optional<std::uint64_t> total;  ///< none: unknown
  double seconds = 0.0;                ///< of this run
};

/// Progress of a download.
struct DownloadState {
  std::string name;
  std::uint64_t done = 0;
  std::optional<std::uint64_t> total;
  double bytes_per_second = 0.0;
  std::optional<std::uint64_t> earlier{};  ///< bytes of earlier downloads, not part of the speed

  void advance(std::uint64_t bytes, double seconds);
};

/// "model.safetensors    43% ████▎       9.9 MB of 22.9 MB  3.1 MB/s  0:04 left"
std::string progress_text(const DownloadState& state);

/// Rows of this run in a second.
double rate_of(const RunState& state);

/// "1,234 of 2,900 rows, 39.2 images/s, 0:42 left, 3 failed"
std::string progress_text(const RunState& state);
/// percent_bar() and the text, for a terminal of this width.
std::string progress_bar(const RunState& state, std::size_t columns);

/// "features of training images 1,234 of 2,900"
std::string count_text(std::string_view what, std::uint64_t done, std::uint64_t total);

/// " 43% ████▎               ": the percentage and a bar.
std::string percent_bar(double fraction);
/// "0:42 left", or empty if unknown.
std::string time_left(std::uint64_t done, std::optional<std::uint64_t> total, double per_second);

/// The one progress display: a line on standard error that overwrites itself on a terminal.
class ProgressLine {
 public:
  enum class Show { kOnTerminal, kAlsoElsewhere, kNever };

  /// kAlsoElsewhere: an occasional message if standard error is not a terminal.
  explicit ProgressLine(Show show = Show::kOnTerminal);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows the text if the last update is long enough ago. `columns`: of the terminal; 0: there is
  /// none.
  void update(const std::function<std::string(std::size_t columns)>& text);
  /// The same with progress_bar(), or with progress_text() where there is no terminal.
  void update(const RunState& state);
  /// Clears the line, for a message.
  void clear();
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  Show show_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

/// The display of a run over many rows. `quiet`: none. `rows_on_output`: rows go to standard
/// output and may share its terminal with a bar, so there is one only if they go to a file.
ProgressLine::Show run_display(bool quiet, bool rows_on_output);

}  // namespace vit::tools
