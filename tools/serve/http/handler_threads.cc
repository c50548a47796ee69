#include "tools/serve/http/handler_threads.h"

#include <exception>
#include <new>

namespace vit::tools::serve {
namespace {

void answer(const HandlerThreads::Handler& handler, const std::shared_ptr<Exchange>& exchange) {
  try {
    handler(exchange);
  } catch (const std::bad_alloc&) {
    exchange->answer(busy_reply(503, "not enough memory for this request now"));
  } catch (const std::exception& error) {
    exchange->answer(error_reply(500, error.what()));
  }
}

}  // namespace

HandlerThreads::HandlerThreads(size_t threads, Handler handler) : handler_(std::move(handler)) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

HandlerThreads::~HandlerThreads() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

void HandlerThreads::add(std::shared_ptr<Exchange> exchange) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(exchange));
  }
  changed_.notify_one();
}

void HandlerThreads::work() {
  while (true) {
    std::shared_ptr<Exchange> exchange;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      exchange = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (!*exchange->abandoned()) answer(handler_, exchange);
  }
}

}  // namespace vit::tools::serve
