/// A bound on the decoded pixels that several threads hold at the same time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "vit/base/error.h"

namespace vit::patch {

using std::size_t;

/// The wait for a share of a budget was ended by the caller's stop flag. The image is neither good
/// nor bad: it was not decoded.
class WaitStopped : public Error {
 public:
  WaitStopped() : Error("stopped before there was memory for the image") {}
};

/// A thread that holds one image at a time waits at most until others have finished theirs: there
/// is no deadlock. One that keeps images while it decodes more gives them up in `make_room`.
class PixelBudget {
 public:
  /// `make_room` is called, in the thread that decodes, before it waits.
  explicit PixelBudget(size_t pixels, std::function<void()> make_room = {})
      : limit_(pixels), make_room_(std::move(make_room)) {}
  PixelBudget(const PixelBudget&) = delete;
  PixelBudget& operator=(const PixelBudget&) = delete;

  /// Waits until `pixels` (or the whole budget, if that is less) are free. First come, first
  /// served, so that small images do not keep a large one waiting for ever. The budget must outlive
  /// the lease. Throws WaitStopped if `stop` is or becomes true during the wait.
  std::shared_ptr<const void> take(size_t pixels, const std::atomic<bool>* stop = nullptr);

 private:
  bool fits(size_t pixels) const { return pixels <= limit_ - used_; }
  void give_back(size_t pixels);

  std::mutex mutex_;
  std::condition_variable changed_;
  const size_t limit_;
  const std::function<void()> make_room_;
  size_t used_ = 0;
  std::uint64_t next_ticket_ = 0;
  std::list<std::uint64_t> waiting_;  ///< tickets in the order in which they came
};

}  // namespace vit::patch
