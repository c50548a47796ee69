/// Two candidates in one run, A, B, A, B, …: the machine may be shared, so only the ratio of the
/// best times says anything.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

namespace vit::bench {

/// Work on one thread may be timed by the processor: then others only make it slower by what they
/// take from the caches.
enum class Clock { kWall, kProcessor };

template <typename Function>
double seconds(const Function& function, Clock clock = Clock::kWall) {
  const auto now = [clock] {
    if (clock == Clock::kProcessor) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(time).count();
  };
  const double start = now();
  function();
  return now() - start;
}

/// Reports the best time of each in ms, and how often `ours` fits into `theirs`.
template <typename Ours, typename Theirs>
void interleave(benchmark::State& state, const Ours& ours, const Theirs& theirs,
                Clock clock = Clock::kWall) {
  double best_ours = std::numeric_limits<double>::infinity(), best_theirs = best_ours;
  for (auto _ : state) {
    best_ours = std::min(best_ours, seconds(ours, clock));
    best_theirs = std::min(best_theirs, seconds(theirs, clock));
  }
  state.counters["ours_ms"] = best_ours * 1e3;
  state.counters["theirs_ms"] = best_theirs * 1e3;
  state.counters["ours/theirs"] = best_ours / best_theirs;
}

}  // namespace vit::bench
