/// What all routes of the service share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/serve/http/server.h"
#include "tools/serve/inputs.h"
#include "tools/serve/metrics.h"
#include "tools/serve/models.h"
#include "vit/serving/work_queue.h"

namespace vit::tools::serve {

struct ServiceSettings {
  size_t most_images = 16;  ///< in one request
  size_t most_texts = 256;  ///< labels times templates, in one request
  PixelLimits pixels{};
  std::vector<std::string> token_hashes{};  ///< SHA-256; empty: no token is needed
};

struct Context {
  const ServiceSettings& settings;
  const Models& models;
  serving::WorkQueue& queue;
  Metrics& metrics;
  const Server& server;
};

/// One request to one route.
struct Call {
  const Context& context;
  const std::shared_ptr<Exchange>& exchange;
  std::string model{};  ///< where the address names it

  const Request& request() const { return exchange->request(); }
};

/// The images of a request as jobs of the queue. Answers 429 if the queue is full, 504 if one of
/// them waited too long.
struct ImageJobs {
  ModelPtr model;
  size_t count = 0;
  std::function<void(size_t index, Runner& runner)> work;  ///< in any worker; may throw
  /// When all are done: makes the answer. `problems[i]` is what image i threw.
  std::function<Reply(const std::vector<std::exception_ptr>& problems)> reply;
};
void run_images(const Call& call, ImageJobs jobs);

/// The status and the message with which an exception is answered.
struct Problem {
  int status = 500;
  std::string message;
};
Problem problem_of(const std::exception_ptr& exception);

}  // namespace vit::tools::serve
