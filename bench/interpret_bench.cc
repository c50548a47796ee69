// What it costs to look inside, against the plain forward pass of the same image, on one thread.
#include <benchmark/benchmark.h>

#include "bench/interleaved.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "vit/interpret/attention_maps.h"
#include "vit/interpret/relevance.h"
#include "vit/model/load.h"
#include "weights/known/architectures.h"

namespace vit::bench {
namespace {

struct Subject {
  explicit Subject(const char* architecture)
      : checkpoint(test::random_checkpoint(weights::config_of(architecture))),
        model(load_model(checkpoint)),
        runner(model, checkpoint.recipe) {
    const Matrix pixels = test::random_matrix(3, runner.pixels().cols, 5);
    std::copy_n(pixels.data(), pixels.size(), runner.pixels().data);
    forward();  // fills runner.patches()
  }
  void forward() { runner.logits(); }

  weights::Checkpoint checkpoint;
  Model model;
  Runner runner;
};

/// Every attention matrix kept.
void maps(benchmark::State& state, const char* architecture) {
  Subject subject(architecture);
  interleave(
      state, [&] { benchmark::DoNotOptimize(interpret::capture(subject.runner)); },
      [&] { subject.forward(); }, Clock::kProcessor);
}

/// Relevance of the patches for one class: forward and backward through the differentiable network.
void relevance(benchmark::State& state, const char* architecture) {
  Subject subject(architecture);
  const auto network = gradient::load_network<float>(subject.checkpoint);
  interleave(
      state,
      [&] {
        interpret::Explanation explanation(network, subject.runner.patches());
        benchmark::DoNotOptimize(
            explanation.relevance(7, {.query = interpret::default_query(network.config)}));
      },
      [&] { subject.forward(); }, Clock::kProcessor);
}

BENCHMARK_CAPTURE(maps, deit_tiny, "deit_tiny_patch16_224")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(maps, vit_base, "vit_base_patch16_224")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(relevance, deit_tiny, "deit_tiny_patch16_224")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(relevance, vit_base, "vit_base_patch16_224")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vit::bench
