/// Two candidates in one run, A, B, A, B, …: the machine may be shared, so only the ratio of the
/// best times says anything.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace vit::bench {

template <typename Function>
double seconds(const Function& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Reports the best time of each in ms, and how often `ours` fits into `theirs`.
template <typename Ours, typename Theirs>
void interleave(benchmark::State& state, const Ours& ours, const Theirs& theirs) {
  double best_ours = std::numeric_limits<double>::infinity(), best_theirs = best_ours;
  for (auto _ : state) {
    best_ours = std::min(best_ours, seconds(ours));
    best_theirs = std::min(best_theirs, seconds(theirs));
  }
  state.counters["ours_ms"] = best_ours * 1e3;
  state.counters["theirs_ms"] = best_theirs * 1e3;
  state.counters["ours/theirs"] = best_ours / best_theirs;
}

}  // namespace vit::bench
