#include "tools/serve/reloader.h"

namespace vit::tools::serve {

void Reloader::start() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
    if (std::exchange(running_, true)) return;
  }
  thread_ = std::jthread([this] { work(); });  // the previous one has finished its work
}

void Reloader::work() {
  while (take()) reload_();
}

bool Reloader::take() {
  const std::lock_guard lock(mutex_);
  running_ = std::exchange(wanted_, false);
  return running_;
}

}  // namespace vit::tools::serve
