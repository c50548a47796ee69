// What rotary positions and relative position biases cost: each model against itself without them.
#include <benchmark/benchmark.h>

#include <string>

#include "bench/interleaved.h"
#include "bench/model_batch.h"
#include "tests/support/random_checkpoint.h"
#include "vit/model/load.h"
#include "weights/known/architectures.h"

namespace vit::bench {
namespace {

void places(benchmark::State& state, const std::string& architecture) {
  const ModelConfig with = weights::config_of(architecture);
  ModelConfig without = with;
  without.encoder.rotary = {};
  without.encoder.relative_bias = {};
  const Model ours = load_model(test::random_checkpoint(with));
  const Model theirs = load_model(test::random_checkpoint(without));
  ModelBatch first(ours, 1, 1), second(theirs, 1, 1);
  interleave(
      state, [&] { first.run_once(); }, [&] { second.run_once(); }, Clock::kProcessor);
}

const int registered = [] {
  for (const char* architecture :
       {"vit_base_patch16_rope_224", "vit_base_patch16_rope_mixed_224", "vit_base_patch16_dinov3",
        "beit_base_patch16_224", "vit_relpos_base_patch16_224"})
    benchmark::RegisterBenchmark((std::string("places/") + architecture).c_str(), places,
                                 architecture)
        ->Unit(benchmark::kMillisecond)
        ->MinTime(20.0);
  return 0;
}();

}  // namespace
}  // namespace vit::bench
