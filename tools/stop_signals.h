/// Ctrl-C and a batch system's request to end, as a flag.
#pragma once

#include <atomic>

namespace vit::tools {

/// While it lives, the first SIGINT or SIGTERM sets the flag; the second ends the program.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  const std::atomic<bool>& flag() const;
  /// The signal that came, 0: none.
  int number() const;
};

}  // namespace vit::tools
