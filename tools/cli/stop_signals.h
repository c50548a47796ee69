/// SIGINT and SIGTERM as a flag.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace vit::tools {

/// The end of a message about a stop, where the rest can be done later.
inline constexpr const char* kResumeAdvice = "run the same command again to resume";

/// During its lifetime the first SIGINT or SIGTERM sets the flag; a second one, of either kind,
/// ends the program. A signal that was ignored before, as in a shell's background, stays ignored.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  const std::atomic<bool>& flag() const;
  /// The signal that came, 0: none.
  int number() const;
  /// Of a program that the signal stopped: 128 and its number, as shells count.
  int exit_status() const { return 128 + number(); }

 private:
  std::array<struct sigaction, 2> before_{};
};

}  // namespace vit::tools
