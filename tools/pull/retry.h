/// Retries after a broken connection.
#pragma once

#include <chrono>
#include <thread>

#include "tools/pull/http.h"

namespace vit::tools {

struct Retries {
  int attempts = 4;                       ///< in a row without any progress
  std::chrono::milliseconds pause{1000};  ///< before the second one; doubled each time
};

/// Repeats `action` until it throws no BrokenConnection. The number of attempts starts again
/// whenever progress() has changed.
template <typename Action, typename Progress>
auto with_retries(const Retries& retries, const Progress& progress, const Action& action) {
  auto before = progress();
  auto pause = retries.pause;
  for (int attempt = 1;; ++attempt) {
    try {
      return action();
    } catch (const BrokenConnection&) {
      if (progress() != before) {
        before = progress();
        attempt = 1;
        pause = retries.pause;
      }
      if (attempt >= retries.attempts) throw;
    }
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

}  // namespace vit::tools
