/// One pool of workers, one level of parallelism.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
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

/// Parts that loops hand out in the same way, so that a worker finds in its cache what it wrote in
/// the loop before.
inline size_t owner_count(const ThreadPool* pool) {
  constexpr size_t kMostOwners = 64;
  return pool == nullptr ? 1 : std::min(pool->size(), kMostOwners);
}

/// Rows of one of `owners` that share `rows`: whole tiles of any instruction set. The last has what
/// is left.
inline size_t own_rows(size_t rows, size_t owners) {
  constexpr size_t kWholeTiles = 12;
  return ((rows + owners - 1) / owners + kWholeTiles - 1) / kWholeTiles * kWholeTiles;
}

/// Calls task(owner, index, worker) once for every index below `count` of each of owner_count(pool)
/// parts. A worker takes all of the part that is its own, then helps where there is work left.
template <typename Task>
void parallel_for_owners(ThreadPool* pool, size_t count, const Task& task) {
  const size_t owners = owner_count(pool);
  std::array<std::atomic<size_t>, 64> next{};
  parallel_for(pool, owners == 1 ? 1 : pool->size(), [&](size_t, size_t worker) {
    for (size_t i = 0; i < owners; ++i) {
      const size_t owner = (worker + i) % owners;
      for (size_t index = next[owner]++; index < count; index = next[owner]++)
        task(owner, index, worker);
    }
  });
}

}  // namespace vit
