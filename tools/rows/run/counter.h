/// How many inputs a run has, for the remaining time.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "tools/rows/run/run.h"

namespace vit::tools {

/// A pipe can be read only once.
bool can_be_read_twice(const std::string& operand);

/// Counts the inputs in a thread of its own. Failing to count is not an error.
class Counter {
 public:
  Counter(const RunSettings& settings, bool wanted);
  ~Counter() { stop_ = true; }

  std::optional<std::uint64_t> total() const;

 private:
  void count(const RunSettings& settings);

  std::atomic<bool> stop_{false};
  std::atomic<bool> known_{false};
  std::atomic<std::uint64_t> total_{0};
  std::jthread thread_;
};

}  // namespace vit::tools
