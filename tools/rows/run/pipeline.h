/// Listing, inference and writing in parallel, with a bounded number of inputs in between.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>

#include "tools/rows/row.h"

namespace vit::tools {

struct PipelineSize {
  size_t workers = 1;
  size_t window = 16;  ///< most inputs that are listed and not yet written
};

struct PipelineParts {
  /// In a thread of its own: passes all inputs to `take`, or until that returns false.
  std::function<void(const TakeInput& take)> list;
  /// In any of the workers. An exception ends the run; a bad image is a row. None: `stop` became
  /// true before the input was done.
  std::function<std::optional<Row>(Input input)> work;
  /// In the calling thread, in the order of the listing.
  std::function<void(Row row)> write;
  /// In the calling thread, several times a second.
  std::function<void()> tick;
  /// In the calling thread, when the next row is not ready, to flush those before it.
  std::function<void()> idle{};
};

/// Returns when everything is written. When `stop` becomes true, inputs that a worker has started
/// are finished and written, up to the first that the worker has given up, and no others: the
/// caller compares the numbers of listed and written inputs to know whether that was all. Rethrows
/// the exception of a part; all rows before are written. Throws a ThreadError, before anything is
/// written, if its threads cannot be started.
void run_pipeline(const PipelineSize& size, const std::atomic<bool>& stop,
                  const PipelineParts& parts);

}  // namespace vit::tools
