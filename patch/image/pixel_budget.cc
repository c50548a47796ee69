#include "patch/image/pixel_budget.h"

#include <algorithm>
#include <chrono>

namespace vit::patch {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);  // at the stop flag

}  // namespace

std::shared_ptr<const void> PixelBudget::take(size_t pixels, const std::atomic<bool>* stop) {
  const size_t share = std::min(pixels, limit_);
  std::unique_lock lock(mutex_);
  if (make_room_ && !fits(share)) {
    lock.unlock();
    make_room_();
    lock.lock();
  }
  const std::uint64_t ticket = next_ticket_++;
  const auto place = waiting_.insert(waiting_.end(), ticket);
  const auto our_turn = [&] { return waiting_.front() == ticket && fits(share); };
  while (!our_turn() && !(stop != nullptr && *stop)) changed_.wait_for(lock, kBetweenLooks);
  const bool ours = our_turn();
  waiting_.erase(place);
  if (ours) used_ += share;
  changed_.notify_all();  // the next in line may fit, too
  lock.unlock();
  if (!ours) throw WaitStopped();
  // The deleter runs even if the control block cannot be allocated.
  return {static_cast<const void*>(this), [this, share](const void*) { give_back(share); }};
}

void PixelBudget::give_back(size_t pixels) {
  const std::lock_guard lock(mutex_);
  used_ -= pixels;
  changed_.notify_all();
}

}  // namespace vit::patch
