/// Reloads in a thread of its own, one after the other.
#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace vit::tools::serve {

class Reloader {
 public:
  /// `reload` must not throw.
  explicit Reloader(std::function<void()> reload) : reload_(std::move(reload)) {}

  /// Never waits: the caller has connections to serve. Calls during a reload cause one more after
  /// it, for all of them together. To be called from one thread.
  void start();

 private:
  void work();
  bool take();

  std::function<void()> reload_;
  std::mutex mutex_;
  bool wanted_ = false;
  bool running_ = false;
  std::jthread thread_{};  ///< the last member, because it uses the others
};

}  // namespace vit::tools::serve
