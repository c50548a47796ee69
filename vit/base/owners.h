/// Loops that hand out rows in the same way, so that a worker finds in its cache what it wrote in
/// the loop before.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "vit/base/thread_pool.h"

namespace vit {

constexpr size_t kMostOwners = 64;
/// Rows that every instruction set's kernels do in whole tiles.
constexpr size_t kWholeTiles = 12;

/// Workers with a part of their own.
inline size_t owner_count(const ThreadPool* pool) {
  return pool == nullptr ? 1 : std::min(pool->size(), kMostOwners);
}

/// Rows of one of `owners` that share `rows`, in whole tiles. The last has what is left.
inline size_t own_rows(size_t rows, size_t owners) {
  return ((rows + owners - 1) / owners + kWholeTiles - 1) / kWholeTiles * kWholeTiles;
}

/// Calls task(owner, index, worker) once for every index below `count` of each of owner_count(pool)
/// parts. A worker takes all of the part that is its own, then helps where there is work left. The
/// first exception is thrown again here, after what the other workers had yet to do.
template <typename Task>
void parallel_for_owners(ThreadPool* pool, size_t count, const Task& task) {
  const size_t owners = owner_count(pool);
  std::array<std::atomic<size_t>, kMostOwners> next{};
  parallel_for(pool, owners == 1 ? 1 : pool->size(), [&](size_t, size_t worker) {
    for (size_t i = 0; i < owners; ++i) {
      const size_t owner = (worker + i) % owners;
      for (size_t index = next[owner]++; index < count; index = next[owner]++)
        task(owner, index, worker);
    }
  });
}

/// Calls task(row) for each row: every owner's, in pieces with which others can help. Few are not
/// worth a worker's waking.
template <typename RowTask>
void for_each_row(ThreadPool* pool, size_t rows, const RowTask& task) {
  constexpr size_t kRowsPerTask = 16;
  if (rows <= kRowsPerTask) pool = nullptr;
  const size_t owners = owner_count(pool), own = own_rows(rows, owners);
  const size_t pieces = (own + kRowsPerTask - 1) / kRowsPerTask;
  parallel_for_owners(pool, pieces, [&](size_t owner, size_t piece, size_t) {
    const size_t first = owner * own + piece * kRowsPerTask;
    const size_t end = std::min({rows, (owner + 1) * own, first + kRowsPerTask});
    for (size_t row = first; row < end; ++row) task(row);
  });
}

}  // namespace vit
