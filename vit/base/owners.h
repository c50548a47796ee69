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

struct RowRange {
  size_t first = 0;
  size_t count = 0;
};

/// The part of one of `owners` in `rows`: whole tiles, whose numbers differ by at most one between
/// owners. The last owner also gets the rows that do not fill a tile.
inline RowRange own_rows(size_t rows, size_t owners, size_t owner) {
  const size_t tiles = (rows + kWholeTiles - 1) / kWholeTiles;
  const auto border = [&](size_t i) { return std::min(rows, i * tiles / owners * kWholeTiles); };
  return {border(owner), border(owner + 1) - border(owner)};
}

/// Calls task(owner, index, worker) once for every index below `count` of each of owner_count(pool)
/// parts. A worker first processes its own part, then helps with the others. The first exception is
/// rethrown here, after the other workers have finished.
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

/// Calls task(row) for each row. Owners process their rows in pieces, with which others can help.
/// Few rows stay on the calling thread: waking a worker would cost more.
template <typename RowTask>
void for_each_row(ThreadPool* pool, size_t rows, const RowTask& task) {
  constexpr size_t kRowsPerTask = 16;
  if (rows <= kRowsPerTask) pool = nullptr;
  const size_t owners = owner_count(pool), most = rows / owners + kWholeTiles;
  const size_t pieces = (most + kRowsPerTask - 1) / kRowsPerTask;
  parallel_for_owners(pool, pieces, [&](size_t owner, size_t piece, size_t) {
    const RowRange own = own_rows(rows, owners, owner);
    const size_t begin = std::min(own.count, piece * kRowsPerTask);
    const size_t end = std::min(own.count, begin + kRowsPerTask);
    for (size_t row = own.first + begin; row < own.first + end; ++row) task(row);
  });
}

}  // namespace vit
