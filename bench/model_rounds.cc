// One model that runs when it is told to, for bench/compare: the other side does the same, and the
// two take turns on the machine.
//
//   model_rounds MODEL BATCH THREADS f32|int8 MERGE
//
// Prints a line of the first image's logits, then reads lines: for each one batch runs, and its
// milliseconds are printed. The end of the input is the end.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bench/interleaved.h"
#include "vit/base/error.h"
#include "vit/base/thread_pool.h"
#include "vit/model/load.h"

namespace vit::bench {
namespace {

/// The same numbers as in bench/compare.
void fill(Matrix& pixels, size_t first) {
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels.data()[i] = static_cast<float>((first + i) * 7919 % 1000) / 500.0f - 1.0f;
}

/// A batch as the classifier runs it: an image per worker, a single image by all of them.
class Batch {
 public:
  Batch(const Model& model, size_t images, size_t threads, size_t merge)
      : model_(model),
        pool_(threads),
        outputs_(images, std::vector<float>(model.config.outputs())) {
    for (size_t i = 0; i < images; ++i) {
      workspaces_.push_back(std::make_unique<ModelWorkspace>(model, merge));
      fill(workspaces_[i]->pixels, i * workspaces_[i]->pixels.size());
    }
    if (images == 1) workspaces_.front()->encoder.pool = &pool_;
  }

  void run_once() {
    if (workspaces_.size() == 1) return run(model_, *workspaces_.front(), outputs_.front());
    parallel_for(&pool_, workspaces_.size(),
                 [&](size_t i, size_t) { run(model_, *workspaces_[i], outputs_[i]); });
  }
  const std::vector<float>& first() const { return outputs_.front(); }

 private:
  const Model& model_;
  ThreadPool pool_;
  std::vector<std::unique_ptr<ModelWorkspace>> workspaces_;
  std::vector<std::vector<float>> outputs_;
};

int serve(char** arguments) {
  const auto number = [&](int i) { return std::strtoul(arguments[i], nullptr, 10); };
  const bool int8 = std::string(arguments[4]) == "int8";
  const Model model = load_model(weights::open(arguments[1]),
                                 {.precision = int8 ? Precision::kInt8 : Precision::kF32});
  Batch batch(model, number(2), number(3), number(5));
  batch.run_once();
  for (const float logit : batch.first()) std::printf("%.9g ", static_cast<double>(logit));
  std::printf("\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::printf("%.3f\n", 1000.0 * seconds([&] { batch.run_once(); }));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace vit::bench

int main(int count, char** arguments) {
  if (count != 6) {
    std::fprintf(stderr, "usage: model_rounds MODEL BATCH THREADS f32|int8 MERGE\n");
    return 2;
  }
  try {
    return vit::bench::serve(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model_rounds: %s\n", error.what());
    return 1;
  }
}
