/// Counters of the service, in the text format of Prometheus.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace vit::tools::serve {

using std::size_t;

/// What is known at the time of the question.
struct Gauges {
  size_t waiting = 0;
  size_t running = 0;
  size_t connections = 0;
};

class Metrics {
 public:
  /// `route` is the address of an interface, not of a request: few and known.
  void count_request(const std::string& route, int status, double seconds);
  void count_images(const std::string& model, size_t images);
  void count_reload(bool done);
  std::string text(const Gauges& gauges) const;

 private:
  static constexpr std::array kBounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                      0.5,   1.0,  2.5,   5.0,  10.0};
  struct Histogram {
    std::array<std::uint64_t, kBounds.size() + 1> counts{};
    double sum = 0.0;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::map<std::string, Histogram> seconds_;
  std::map<std::string, std::uint64_t> images_;
  std::array<std::uint64_t, 2> reloads_{};  ///< failed, done
  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
};

}  // namespace vit::tools::serve
