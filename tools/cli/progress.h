/// How far a run is: a bar on a terminal, elsewhere a line now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace vit::tools {

struct RunState {
  std::uint64_t done = 0;     ///< rows, those of earlier runs included
  std::uint64_t earlier = 0;  ///< rows of earlier runs
  std::uint64_t failed = 0;
  std::optional<std::uint64_t> total;  ///< none: not counted yet, or not countable
  double seconds = 0.0;                ///< of this run
};

/// Rows of this run in a second.
double rate_of(const RunState& state);

/// "1,234 of 2,900 rows, 39.2 images/s, 0:42 left, 3 failed"
std::string progress_text(const RunState& state);
/// " 43% ████▎      " and the text, for a terminal of this width.
std::string progress_bar(const RunState& state, std::size_t columns);

class RunProgress {
 public:
  /// `quiet`: shows nothing. `rows_on_output`: rows go to standard output, and may share its
  /// terminal with a bar, so there is one only if they go to a file.
  RunProgress(bool quiet, bool rows_on_output);
  ~RunProgress();
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  /// Shows the state if it is time to.
  void update(const std::function<RunState()>& state);
  /// Clears the line, for a message.
  void clear();
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace vit::tools
