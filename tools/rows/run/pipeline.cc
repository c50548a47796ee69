#include "tools/rows/run/pipeline.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "vit/base/thread_error.h"

namespace vit::tools {
namespace {

constexpr auto kBetweenTicks = std::chrono::milliseconds(100);

/// A ring of slots. Inputs are started in the order in which they are listed, so the started ones
/// are always a range without gaps: [written, started) of [written, listed).
class Flow {
 public:
  explicit Flow(size_t window) : slots_(std::max<size_t>(window, 1)) {}

  bool put(Input input) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || listed_ - written_ < slots_.size(); });
    if (closed_) return false;
    slots_[listed_++ % slots_.size()] = {std::move(input), std::nullopt};
    work_.notify_one();
    return true;
  }

  void listing_ended() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    work_.notify_all();
    done_.notify_all();
  }

  /// None: no more work.
  std::optional<size_t> begin() {
    std::unique_lock lock(mutex_);
    work_.wait(lock, [&] { return closed_ || started_ < listed_ || ended_; });
    if (closed_ || started_ == listed_) return std::nullopt;
    return started_++;
  }

  Input input_of(size_t ticket) { return std::move(slots_[ticket % slots_.size()].input); }

  /// None: the row is given up, so that no row after it can be written.
  void finish(size_t ticket, std::optional<Row> row) {
    const std::lock_guard lock(mutex_);
    if (!row) {
      end_ = std::min(end_, ticket);
      return close_locked();
    }
    slots_[ticket % slots_.size()].row = std::move(row);
    if (ticket == written_) done_.notify_one();
  }

  /// Waits a moment for the next row in order.
  std::optional<Row> take_row() {
    std::unique_lock lock(mutex_);
    done_.wait_for(lock, kBetweenTicks, [&] { return row_ready() || over(); });
    if (!row_ready()) return std::nullopt;
    std::optional<Row> row;
    row.swap(slots_[written_++ % slots_.size()].row);
    room_.notify_one();
    return row;
  }

  bool is_row_ready() {
    const std::lock_guard lock(mutex_);
    return row_ready();
  }

  bool is_over() {
    const std::lock_guard lock(mutex_);
    return over();
  }

  /// No further input is started.
  void close() {
    const std::lock_guard lock(mutex_);
    close_locked();
  }

  void close_because(std::exception_ptr problem) {
    {
      const std::lock_guard lock(mutex_);
      if (!problem_) problem_ = std::move(problem);
      broken_ = true;
    }
    close();
  }

  void rethrow() {
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  void close_locked() {
    closed_ = true;
    room_.notify_all();
    work_.notify_all();
    done_.notify_all();
  }

  struct Slot {
    Input input;
    std::optional<Row> row;
  };

  bool row_ready() const {
    return written_ < started_ && slots_[written_ % slots_.size()].row.has_value();
  }
  bool over() const {
    if (row_ready()) return false;
    return broken_ ||
           (closed_ ? written_ == std::min(started_, end_) : ended_ && written_ == listed_);
  }

  std::mutex mutex_;
  std::condition_variable room_, work_, done_;
  std::vector<Slot> slots_;
  size_t listed_ = 0, started_ = 0, written_ = 0;
  size_t end_ = std::numeric_limits<size_t>::max();  ///< the first row that was given up
  bool ended_ = false, closed_ = false, broken_ = false;
  std::exception_ptr problem_;
};

void list_into(Flow& flow, const PipelineParts& parts) {
  std::exception_ptr problem;
  try {
    // An exception must not leave this thread; run_pipeline() rethrows it.
    parts.list([&](Input input) { return flow.put(std::move(input)); });
  } catch (...) {
    problem = std::current_exception();
  }
  if (problem) flow.close_because(problem);
  flow.listing_ended();
}

void work_off(Flow& flow, const PipelineParts& parts) {
  while (const auto ticket = flow.begin()) {
    try {
      flow.finish(*ticket, parts.work(flow.input_of(*ticket)));
    } catch (...) {
      flow.close_because(std::current_exception());
    }
  }
}

void write_all(Flow& flow, const std::atomic<bool>& stop, const PipelineParts& parts) {
  while (!flow.is_over()) {
    if (stop) flow.close();
    if (parts.idle && !flow.is_row_ready()) parts.idle();
    if (auto row = flow.take_row()) parts.write(std::move(*row));
    parts.tick();
  }
}

/// Workers first: nothing is listed, and no work begins, until all of them have started.
void start(std::vector<std::jthread>& threads, Flow& flow, const PipelineSize& size,
           const PipelineParts& parts) {
  try {
    for (size_t i = 0; i < size.workers; ++i) threads.emplace_back([&] { work_off(flow, parts); });
    threads.emplace_back([&] { list_into(flow, parts); });
  } catch (const std::system_error& error) {
    throw ThreadError(size.workers, error);
  }
}

}  // namespace

void run_pipeline(const PipelineSize& size, const std::atomic<bool>& stop,
                  const PipelineParts& parts) {
  Flow flow(size.window);
  {
    std::vector<std::jthread> threads;  // joined here, which needs a closed flow
    try {
      start(threads, flow, size, parts);
      write_all(flow, stop, parts);
    } catch (...) {
      flow.close_because(std::current_exception());
    }
    flow.close();
  }
  flow.rethrow();
}

}  // namespace vit::tools
