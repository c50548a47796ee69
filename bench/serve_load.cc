/// serve_load PORT CONNECTIONS SECONDS FILE...: sends the files in turn to a running vit serve for
/// classification, over CONNECTIONS connections at a time, and writes one line: answers per second,
/// their median and 99th percentile time, how many were refused, how many were wrong.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/tools/serve/http_client.h"

namespace {

using Clock = std::chrono::steady_clock;
using vit::tools::Answer;
using vit::tools::Ask;
using vit::tools::Connection;

struct Outcome {
  std::vector<double> answered;  ///< seconds of each
  std::vector<double> refused;
  size_t wrong = 0;
};

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

double at(std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0.0;
  std::ranges::sort(sorted);
  const auto place = static_cast<size_t>(part * static_cast<double>(sorted.size()));
  return 1000.0 * sorted[std::min(place, sorted.size() - 1)];
}

/// Asks until the time is over. Each answer must name the file that was sent.
Outcome load(std::uint16_t port, const std::vector<std::string>& files,
             const std::vector<std::string>& bytes,
             std::pair<std::atomic<size_t>*, Clock::time_point> until) {
  Outcome outcome;
  std::optional<Connection> connection;
  while (Clock::now() < until.second) {
    const size_t i = (*until.first)++ % files.size();
    const std::string name = "file" + std::to_string(i);
    const auto start = Clock::now();
    if (!connection) connection.emplace(port);
    const Answer answer = connection->ask({.method = "POST",
                                           .target = "/v1/classify?k=5&name=" + name,
                                           .body = bytes[i],
                                           .type = "image/jpeg"});
    const auto close = answer.headers.find("connection");
    if (close != answer.headers.end() && close->second == "close") connection.reset();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (answer.status == 200 &&
        answer.body.find("\"file\":\"" + name + "\"") != std::string::npos) {
      outcome.answered.push_back(seconds);
    } else if (answer.status == 429) {
      outcome.refused.push_back(seconds);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } else {
      ++outcome.wrong;
    }
  }
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: serve_load PORT CONNECTIONS SECONDS FILE...\n";
    return 2;
  }
  const auto port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  const int connections = std::atoi(argv[2]);
  const double seconds = std::atof(argv[3]);
  const std::vector<std::string> files(argv + 4, argv + argc);
  std::vector<std::string> bytes;
  for (const auto& file : files) bytes.push_back(read_file(file));
  std::atomic<size_t> next = 0;
  const auto start = Clock::now();
  const auto end =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Outcome all;
  std::mutex mutex;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < connections; ++i)
      clients.emplace_back([&] {
        Outcome one = load(port, files, bytes, {&next, end});
        const std::lock_guard lock(mutex);
        all.answered.insert(all.answered.end(), one.answered.begin(), one.answered.end());
        all.refused.insert(all.refused.end(), one.refused.begin(), one.refused.end());
        all.wrong += one.wrong;
      });
  }
  const double took = std::chrono::duration<double>(Clock::now() - start).count();
  std::cout << connections << " connections: answers " << all.answered.size() << ", "
            << static_cast<double>(all.answered.size()) / took << " answers/s, median "
            << at(all.answered, 0.5) << " ms, p99 " << at(all.answered, 0.99) << " ms; refused "
            << all.refused.size() << ", p99 " << at(all.refused, 0.99) << " ms; wrong " << all.wrong
            << '\n';
  return all.wrong == 0 ? 0 : 1;
}
