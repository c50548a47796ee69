/// Counters of the service, in the text format of Prometheus.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace vit::tools::serve {

using std::size_t;

/// Values at the time of the request for metrics.
struct Gauges {
  size_t waiting = 0;
  size_t running = 0;
  size_t connections = 0;
  std::uint64_t refused = 0;  ///< connections, since the start
};

class Metrics {
 public:
  /// `route` is the pattern of a route, not the path of a request, so there are few.
  void count_request(const std::string& route, int status, double seconds);
  /// A request that a model has answered.
  void count_images(const std::string& model, size_t images, double seconds);
  void count_reload(bool done);
  std::string text(const Gauges& gauges) const;

 private:
  static constexpr std::array kBounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                      0.5,   1.0,  2.5,   5.0,  10.0};
  struct Histogram {
    std::array<std::uint64_t, kBounds.size() + 1> counts{};
    double sum = 0.0;

    void add(double seconds);
  };
  using Histograms = std::map<std::string, Histogram>;
  static void write(std::ostream& out, const std::string& name, const char* label,
                    const Histograms& histograms);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  Histograms seconds_;        ///< per route
  Histograms model_seconds_;  ///< per model
  std::map<std::string, std::uint64_t> images_;
  std::array<std::uint64_t, 2> reloads_{};  ///< failed, done
  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
};

}  // namespace vit::tools::serve
