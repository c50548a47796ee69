#include "tools/serve/context.h"

#include <atomic>
#include <new>

#include "tools/serve/status_error.h"

namespace vit::tools::serve {
namespace {

/// The images of one request that are not done yet.
struct Pending {
  std::shared_ptr<Exchange> exchange;
  ImageJobs jobs;
  std::vector<std::exception_ptr> problems;
  std::atomic<size_t> left;
  std::atomic<bool> expired = false;

  Pending(std::shared_ptr<Exchange> of, ImageJobs all)
      : exchange(std::move(of)), jobs(std::move(all)), problems(jobs.count), left(jobs.count) {}

  void done(size_t index, serving::JobEnd end, const std::exception_ptr& problem) {
    problems[index] = problem;
    if (end == serving::JobEnd::kExpired) expired = true;
    if (--left != 0) return;
    if (*exchange->abandoned()) return;
    if (expired) return exchange->answer(busy_reply(504, "the answer was not ready in time"));
    try {
      Reply reply = jobs.reply(problems);
      reply.model = jobs.model->name;
      reply.images = jobs.count;
      exchange->answer(std::move(reply));
    } catch (...) {
      const auto [status, message] = problem_of(std::current_exception());
      exchange->answer(error_reply(status, message));
    }
  }
};

}  // namespace

void run_images(const Call& call, ImageJobs jobs) {
  const auto pending = std::make_shared<Pending>(call.exchange, std::move(jobs));
  std::vector<serving::Job> all;
  for (size_t i = 0; i < pending->jobs.count; ++i)
    all.push_back({.model = classifier_of(pending->jobs.model),
                   .work = [pending, i](Runner& runner) { pending->jobs.work(i, runner); },
                   .done =
                       [pending, i](serving::JobEnd end, const std::exception_ptr& problem) {
                         pending->done(i, end, problem);
                       },
                   .deadline = call.exchange->deadline(),
                   .abandoned = call.exchange->abandoned()});
  if (!call.context.queue.push(std::move(all)))
    call.exchange->answer(busy_reply(429, "too many images are waiting; try again later"));
}

Problem problem_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const StatusError& error) {
    return {error.status(), error.what()};
  } catch (const std::bad_alloc&) {
    return {503, "not enough memory for this request now"};
  } catch (const std::exception& error) {
    return {500, error.what()};
  }
}

}  // namespace vit::tools::serve
