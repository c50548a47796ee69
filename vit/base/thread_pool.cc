#include "vit/base/thread_pool.h"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "vit/base/thread_error.h"

namespace vit {
namespace {

/// How often an idle worker looks for work before it sleeps: tens of microseconds, about the time
/// between two kernels of one image. Waking a sleeper costs more than that.
constexpr int kSpins = 4000;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ThreadPool::State {
  using Task = std::function<void(size_t, size_t)>;

  std::vector<std::thread> threads;
  std::mutex run_mutex;  // one loop at a time

  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable all_left;
  // Guarded by mutex; the atomics are also read while spinning.
  bool stop = false;
  bool open = false;  // workers may still join the loop
  const Task* task = nullptr;
  size_t count = 0;
  std::exception_ptr error;
  std::atomic<size_t> generation{0};
  std::atomic<size_t> inside{0};  // workers that joined and have not left
  std::atomic<size_t> next{0};

  void work(size_t worker) {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      try {
        (*task)(i, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next.store(count);
      }
    }
  }

  bool wait_for_work(size_t& seen) {
    for (int spin = 0; spin < kSpins && generation.load(std::memory_order_relaxed) == seen; ++spin)
      relax();
    std::unique_lock lock(mutex);
    work_ready.wait(lock, [&] { return stop || generation.load() != seen; });
    seen = generation.load();
    if (stop || !open) return false;
    ++inside;
    return true;
  }

  void serve(size_t worker) {
    size_t seen = 0;
    for (;;) {
      if (wait_for_work(seen)) {
        work(worker);
        const std::lock_guard lock(mutex);
        if (--inside == 0) all_left.notify_one();
      } else {
        const std::lock_guard lock(mutex);
        if (stop) return;
      }
    }
  }

  void end() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
      ++generation;
    }
    work_ready.notify_all();
    for (std::thread& thread : threads) thread.join();
  }
};

ThreadPool::ThreadPool(size_t workers) : state_(std::make_unique<State>()) {
  if (workers == 0) workers = available_threads();
  // A joinable thread must not be destroyed: what was started ends before the error leaves.
  State* const state = state_.get();
  try {
    state->threads.reserve(workers - 1);
    for (size_t worker = 1; worker < workers; ++worker)
      state->threads.emplace_back([state, worker] { state->serve(worker); });
  } catch (const std::system_error& error) {
    state->end();
    throw ThreadError(workers, error);
  } catch (...) {
    state->end();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  state_->end();
}

size_t ThreadPool::size() const {
  return state_->threads.size() + 1;
}

void ThreadPool::run(size_t count, const std::function<void(size_t, size_t)>& task) {
  State& s = *state_;
  const std::lock_guard one_loop(s.run_mutex);
  {
    const std::lock_guard lock(s.mutex);
    s.task = &task;
    s.count = count;
    s.error = nullptr;
    s.next.store(0);
    s.open = true;
    ++s.generation;
  }
  s.work_ready.notify_all();
  s.work(0);

  // A worker still asleep is not waited for: once the loop is closed it can no longer join.
  std::unique_lock lock(s.mutex);
  s.open = false;
  lock.unlock();
  for (int spin = 0; spin < kSpins && s.inside.load(std::memory_order_acquire) != 0; ++spin)
    relax();
  lock.lock();
  s.all_left.wait(lock, [&] { return s.inside.load() == 0; });
  if (s.error) std::rethrow_exception(std::exchange(s.error, nullptr));
}

size_t available_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<size_t>(CPU_COUNT(&allowed));
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware == 0 ? 1 : hardware;
}

}  // namespace vit
