#include "vit/serving/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <stdexcept>

#include "tests/support/paths.h"

namespace vit::serving {
namespace {

std::shared_ptr<const Classifier> model(size_t threads = 2) {
  return std::make_shared<Classifier>(
      Classifier::load(test::goldens() / "hf_vit", {.threads = threads}));
}

Image noise(unsigned seed) {
  Image image{40, 30, std::vector<std::uint8_t>(40 * 30 * 3)};
  for (size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = static_cast<std::uint8_t>(i * i * (seed + 3) >> 3);
  return image;
}

TEST(WorkQueue, GivesTheAnswersOfTheClassifierToTheBit) {
  const auto classifier = model();
  std::vector<std::vector<float>> answers(50);
  {
    WorkQueue queue(3, 100);
    std::vector<Job> jobs;
    for (unsigned i = 0; i < answers.size(); ++i)
      jobs.push_back({.model = classifier,
                      .work =
                          [&, i](Runner& runner) {
                            const auto logits = runner.logits(noise(i));
                            answers[i].assign(logits.begin(), logits.end());
                          },
                      .done = [](JobEnd end, auto) { EXPECT_EQ(end, JobEnd::kRun); }});
    ASSERT_TRUE(queue.push(std::move(jobs)));
    queue.drain();
  }
  for (unsigned i = 0; i < answers.size(); ++i) {
    const Image image = noise(i);
    EXPECT_EQ(answers[i], classifier->logits({&image, 1}).front());
  }
}

/// Keeps a worker busy until `open` is counted down.
struct Gate {
  std::latch begun{1};
  std::latch open{1};

  Job job(const std::shared_ptr<const Classifier>& classifier) {
    return {.model = classifier,
            .work =
                [this](Runner&) {
                  begun.count_down();
                  open.wait();
                },
            .done = [](JobEnd, auto) {}};
  }
};

TEST(WorkQueue, RefusesAllOrNothingWhenItIsFull) {
  const auto classifier = model(1);
  Gate gate;
  std::atomic<int> run = 0;
  WorkQueue queue(1, 3);
  const auto jobs = [&](size_t count) {
    std::vector<Job> all(count);
    for (Job& job : all)
      job = {.model = classifier, .work = [&](Runner&) { ++run; }, .done = [](JobEnd, auto) {}};
    return all;
  };
  std::vector<Job> first;
  first.push_back(gate.job(classifier));
  ASSERT_TRUE(queue.push(std::move(first)));
  gate.begun.wait();
  EXPECT_TRUE(queue.push(jobs(2)));
  EXPECT_FALSE(queue.push(jobs(2)));
  EXPECT_TRUE(queue.has_room());
  EXPECT_TRUE(queue.push(jobs(1)));
  EXPECT_FALSE(queue.has_room());
  EXPECT_EQ(queue.counts().waiting, 3u);
  EXPECT_EQ(queue.counts().running, 1u);
  gate.open.count_down();
  queue.drain();
  EXPECT_EQ(run, 3);
  EXPECT_TRUE(queue.push(jobs(7))) << "more than it holds, while nothing waits";
  queue.drain();
  EXPECT_EQ(run, 10);
}

TEST(WorkQueue, PlacesOfAbandonedAndExpiredJobsAreFree) {
  const auto classifier = model(1);
  Gate gate;
  std::atomic<int> abandoned = 0, expired = 0, run = 0;
  const auto count = [&](JobEnd end, auto) {
    ++(end == JobEnd::kAbandoned ? abandoned : end == JobEnd::kExpired ? expired : run);
  };
  WorkQueue queue(1, 2);
  std::vector<Job> first;
  first.push_back(gate.job(classifier));
  ASSERT_TRUE(queue.push(std::move(first)));
  gate.begun.wait();
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  std::vector<Job> jobs(2);
  jobs[0] = {.model = classifier, .work = [](Runner&) {}, .done = count, .abandoned = gone};
  jobs[1] = {.model = classifier,
             .work = [](Runner&) {},
             .done = count,
             .deadline = Clock::now() - std::chrono::seconds(1)};
  ASSERT_TRUE(queue.push(std::move(jobs)));
  *gone = true;
  std::vector<Job> more(2);
  for (Job& job : more) job = {.model = classifier, .work = [](Runner&) {}, .done = count};
  EXPECT_TRUE(queue.push(std::move(more)));
  EXPECT_EQ(abandoned, 1);
  EXPECT_EQ(expired, 1);
  gate.open.count_down();
  queue.drain();
  EXPECT_EQ(run, 2);
}

TEST(WorkQueue, PassesOnWhatAJobThrowsAndContinues) {
  const auto classifier = model();
  WorkQueue queue(2, 10);
  std::promise<std::string> said;
  std::vector<Job> jobs(1);
  jobs[0] = {.model = classifier,
             .work = [](Runner&) { throw std::runtime_error("no good"); },
             .done =
                 [&](JobEnd, const std::exception_ptr& problem) {
                   try {
                     std::rethrow_exception(problem);
                   } catch (const std::runtime_error& error) {
                     said.set_value(error.what());
                   }
                 }};
  ASSERT_TRUE(queue.push(std::move(jobs)));
  EXPECT_EQ(said.get_future().get(), "no good");
}

TEST(WorkQueue, TellsJobsThatItWillNotRunAnyMore) {
  const auto classifier = model(1);
  Gate gate;
  std::atomic<int> dropped = 0;
  {
    WorkQueue queue(1, 10);
    std::vector<Job> jobs;
    jobs.push_back(gate.job(classifier));
    for (int i = 0; i < 3; ++i)
      jobs.push_back({.model = classifier,
                      .work = [](Runner&) {},
                      .done =
                          [&](JobEnd end, auto) {
                            if (end == JobEnd::kAbandoned && ++dropped == 3) gate.open.count_down();
                          }});
    ASSERT_TRUE(queue.push(std::move(jobs)));
    gate.begun.wait();
  }
  EXPECT_EQ(dropped, 3);
}

}  // namespace
}  // namespace vit::serving
