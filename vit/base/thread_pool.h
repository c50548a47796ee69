/// One pool of workers, one level of parallelism.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace vit {

using std::size_t;

/// Runs loops over its workers. The calling thread is worker 0, so a pool of one runs serially and
/// starts no thread. One loop runs at a time: a caller that finds the pool busy waits for it.
class ThreadPool {
 public:
  /// `workers` 0: as many as the machine has hardware threads (or its container grants).
  explicit ThreadPool(size_t workers = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t size() const;

  /// Calls task(index, worker) once for every index below `count`; worker is below size(). Returns
  /// when all are done. The first exception thrown by a task is thrown again here; indices not yet
  /// started are then skipped.
  void run(size_t count, const std::function<void(size_t index, size_t worker)>& task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Hardware threads this process may use.
size_t available_threads();

/// Serial when `pool` is null. `task` is called as task(index, worker).
template <typename Task>
void parallel_for(ThreadPool* pool, size_t count, const Task& task) {
  if (pool == nullptr || pool->size() == 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) task(i, size_t{0});
  } else {
    pool->run(count, std::cref(task));
  }
}

}  // namespace vit
