/// How far a download is, on a terminal; silent elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace vit::tools {

struct ProgressState {
  std::string name;
  std::uintmax_t done = 0;
  std::optional<std::uintmax_t> total;
  double bytes_per_second = 0.0;
};

/// "model.safetensors   43%  ████▎       9.9 of 22.9 MB  3.1 MB/s  0:04 left"
std::string progress_line(const ProgressState& state);

class ProgressBar {
 public:
  ProgressBar(std::string name, std::optional<std::uintmax_t> total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::uintmax_t done);

 private:
  using Clock = std::chrono::steady_clock;
  ProgressState state_;
  bool terminal_;
  bool drawn_ = false;
  std::optional<std::uintmax_t> first_;  ///< what an earlier download left does not count as speed
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{};
};

}  // namespace vit::tools
