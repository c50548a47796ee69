#include "vit/serving/work_queue.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "vit/base/thread_error.h"

namespace vit::serving {
namespace {

bool is_abandoned(const Job& job) {
  return job.abandoned != nullptr && *job.abandoned;
}

/// A runner on all threads of a model, kept for the next job that is alone.
struct SharedRunner {
  std::shared_ptr<const Classifier> model;
  std::optional<Runner> runner;  ///< declared after its model, so it goes first

  Runner& of(const std::shared_ptr<const Classifier>& wanted) {
    if (model != wanted) {
      runner.reset();
      model = wanted;
      runner.emplace(model->shared_runner());
    }
    return *runner;
  }
};

/// A job that ends without having run.
struct Dropped {
  Job job;
  JobEnd end;
};

void tell(std::vector<Dropped> dropped) {
  for (auto& [job, end] : dropped) job.done(end, nullptr);
}

}  // namespace

struct WorkQueue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::condition_variable quiet;
  std::deque<Job> waiting;
  size_t most_waiting = 0;
  size_t running = 0;
  bool shared = false;         ///< the job that runs has all threads
  SharedRunner shared_runner;  ///< of that job
  bool stopped = false;
  std::vector<std::jthread> workers;

  /// Takes out what need not run any more. The caller tells them without the lock.
  std::vector<Dropped> purge() {
    std::vector<Dropped> dropped;
    const auto now = Clock::now();
    std::deque<Job> kept;
    for (Job& job : waiting) {
      if (is_abandoned(job))
        dropped.push_back({std::move(job), JobEnd::kAbandoned});
      else if (job.deadline <= now)
        dropped.push_back({std::move(job), JobEnd::kExpired});
      else
        kept.push_back(std::move(job));
    }
    waiting = std::move(kept);
    tell_if_quiet();
    return dropped;
  }

  void tell_if_quiet() {
    if (running == 0 && waiting.empty()) quiet.notify_all();
  }

  bool fits(size_t count) const {
    return !stopped && (waiting.empty() || waiting.size() + count <= most_waiting);
  }

  void run(const Job& job, bool alone) {
    std::exception_ptr problem;
    try {
      if (alone)
        job.work(shared_runner.of(job.model));
      else
        job.model->for_each(1, [&](size_t, Runner& runner) { job.work(runner); });
    } catch (...) {
      problem = std::current_exception();
    }
    job.done(JobEnd::kRun, problem);
  }

  /// False: the queue has ended.
  bool work_once() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stopped || (!waiting.empty() && !shared); });
    if (stopped) return false;
    auto dropped = purge();
    if (waiting.empty()) {
      lock.unlock();
      tell(std::move(dropped));
      return true;
    }
    Job job = std::move(waiting.front());
    waiting.pop_front();
    const bool alone = running == 0 && waiting.empty() && workers.size() > 1;
    ++running;
    shared = alone;
    lock.unlock();
    tell(std::move(dropped));
    run(job, alone);
    job = {};  // the last holder of a model that was replaced lets it go without the lock
    lock.lock();
    --running;
    if (alone) {
      shared = false;
      changed.notify_all();
    }
    tell_if_quiet();
    return true;
  }

  void stop() {
    std::vector<Dropped> dropped;
    {
      const std::lock_guard lock(mutex);
      stopped = true;
      for (Job& job : waiting) dropped.push_back({std::move(job), JobEnd::kAbandoned});
      waiting.clear();
    }
    changed.notify_all();
    tell(std::move(dropped));
    workers.clear();  // joins them
  }
};

WorkQueue::WorkQueue(size_t workers, size_t most_waiting) : state_(std::make_unique<State>()) {
  state_->most_waiting = most_waiting;
  const std::lock_guard lock(state_->mutex);  // workers look at their number
  try {
    for (size_t i = 0; i < workers; ++i)
      state_->workers.emplace_back([state = state_.get()] {
        while (state->work_once()) {
        }
      });
  } catch (const std::system_error& error) {
    state_->stopped = true;
    state_->mutex.unlock();
    state_->changed.notify_all();
    state_->workers.clear();
    state_->mutex.lock();
    throw ThreadError(workers, error);
  }
}

WorkQueue::~WorkQueue() {
  state_->stop();
}

bool WorkQueue::push(std::vector<Job> jobs) {
  std::vector<Dropped> dropped;
  bool accepted = false;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->fits(jobs.size())) dropped = state_->purge();
    accepted = state_->fits(jobs.size());
    if (accepted)
      for (Job& job : jobs) state_->waiting.push_back(std::move(job));
  }
  if (accepted) state_->changed.notify_all();
  tell(std::move(dropped));
  return accepted;
}

bool WorkQueue::has_room() {
  std::vector<Dropped> dropped;
  bool room = false;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->fits(1)) dropped = state_->purge();
    room = state_->fits(1);
  }
  tell(std::move(dropped));
  return room;
}

QueueCounts WorkQueue::counts() {
  const std::lock_guard lock(state_->mutex);
  return {.waiting = state_->waiting.size(), .running = state_->running};
}

void WorkQueue::drain() {
  std::unique_lock lock(state_->mutex);
  state_->quiet.wait(lock, [&] { return state_->waiting.empty() && state_->running == 0; });
}

}  // namespace vit::serving
