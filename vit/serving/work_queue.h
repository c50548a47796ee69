/// A bounded queue of images for models: a job is refused if the queue is full; it does not wait.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "vit/model/classifier.h"

namespace vit::serving {

using Clock = std::chrono::steady_clock;

enum class JobEnd {
  kRun,        ///< `work` was called
  kExpired,    ///< its deadline passed before a worker was free
  kAbandoned,  ///< its client no longer waits
};

/// One image, or other work for one worker of a model.
struct Job {
  std::shared_ptr<const Classifier> model;  ///< lives at least until `done` returns
  /// In a worker of the queue.
  std::function<void(Runner& runner)> work;
  /// Called once for each accepted job, in any thread, without a lock; must not throw. `problem` is
  /// what `work` threw.
  std::function<void(JobEnd end, std::exception_ptr problem)> done;
  Clock::time_point deadline = Clock::time_point::max();  ///< it does not begin later
  std::shared_ptr<const std::atomic<bool>> abandoned{};   ///< set: it does not begin any more
};

struct QueueCounts {
  size_t waiting = 0;
  size_t running = 0;
};

/// Workers that take the oldest job as soon as they are free. A job that is alone runs on all
/// threads of its model; the others then wait until it is done. No job waits for others to come.
class WorkQueue {
 public:
  /// `most_waiting` jobs wait at most, besides those that run. Throws a ThreadError.
  WorkQueue(size_t workers, size_t most_waiting);
  /// Drops what waits, as abandoned, and finishes what runs.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// All of them or none: false if there is no room. More jobs than the queue holds are accepted
  /// while nothing waits. Jobs that have expired or are abandoned give up their places.
  bool push(std::vector<Job> jobs);

  /// Whether one job more would be accepted.
  bool has_room();
  QueueCounts counts();
  /// Waits until nothing waits or runs.
  void drain();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vit::serving
