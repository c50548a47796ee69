#include "patch/image/pixel_budget.h"

#include <algorithm>

namespace vit::patch {

std::shared_ptr<const void> PixelBudget::take(size_t pixels) {
  const size_t share = std::min(pixels, limit_);
  std::unique_lock lock(mutex_);
  if (make_room_ && !fits(share)) {
    lock.unlock();
    make_room_();
    lock.lock();
  }
  const std::uint64_t ticket = next_ticket_++;
  changed_.wait(lock, [&] { return ticket == served_ && fits(share); });
  ++served_;
  used_ += share;
  changed_.notify_all();  // the next in line may fit, too
  lock.unlock();
  // The deleter runs even if the control block cannot be allocated.
  return {static_cast<const void*>(this), [this, share](const void*) { give_back(share); }};
}

void PixelBudget::give_back(size_t pixels) {
  const std::lock_guard lock(mutex_);
  used_ -= pixels;
  changed_.notify_all();
}

}  // namespace vit::patch
