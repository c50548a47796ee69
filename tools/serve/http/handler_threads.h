/// The threads that parse requests and make jobs of them, so that the thread of the connections
/// never waits.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tools/serve/http/message.h"

namespace vit::tools::serve {

class HandlerThreads {
 public:
  using Handler = std::function<void(const std::shared_ptr<Exchange>& exchange)>;

  HandlerThreads(size_t threads, Handler handler);
  ~HandlerThreads();  ///< after the requests that were added
  HandlerThreads(const HandlerThreads&) = delete;
  HandlerThreads& operator=(const HandlerThreads&) = delete;

  void add(std::shared_ptr<Exchange> exchange);

 private:
  void work();

  Handler handler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Exchange>> waiting_;
  bool ended_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace vit::tools::serve
