// A training step (batch, forward, backward, update) against three forward passes of the inference
// model on as many images of as many tokens, with as many threads.
#include <benchmark/benchmark.h>

#include "bench/interleaved.h"
#include "bench/model_batch.h"
#include "vit/model/load.h"
#include "vit/train/export.h"
#include "vit/train/initialize.h"
#include "vit/train/trainer.h"

namespace vit::bench {
namespace {

constexpr size_t kImages = 128, kEdge = 64, kClasses = 200;

data::Dataset random_images() {
  data::Dataset dataset;
  for (size_t i = 0; i < kClasses; ++i) dataset.labels.push_back(std::to_string(i));
  for (size_t i = 0; i < kImages; ++i) {
    vit::Random random({i});
    patch::Image image{kEdge, kEdge, std::vector<std::uint8_t>(kEdge * kEdge * 3)};
    for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random.below(256));
    dataset.train.push_back({std::move(image), i % kClasses});
  }
  return dataset;
}

/// 64 tokens of an image of 64x64 pixels, or the half of them.
ModelConfig model(size_t width, size_t depth, bool half = false) {
  ModelConfig c;
  c.embedding.image_height = kEdge;
  c.embedding.image_width = half ? kEdge / 2 : kEdge;
  c.embedding.patch_height = c.embedding.patch_width = 8;
  c.embedding.position_grid = c.embedding.grid();
  c.embedding.prefix = {};
  c.head.pooling = Pooling::kMean;
  c.encoder.width = width;
  c.encoder.depth = depth;
  c.encoder.heads = c.encoder.key_value_heads = width / 64;
  c.encoder.mlp_width = 4 * width;
  c.head.classes = kClasses;
  return c;
}

gradient::Network<float> network_of(const ModelConfig& config) {
  auto network = gradient::make_network<float>(config);
  train::initialize(network, 1, train::Start::kMimetic);
  return network;
}

train::Settings settings_for(bool half) {
  train::Settings settings;
  settings.epochs = 1'000'000;
  settings.batch = kImages;
  settings.first_keep_patches = settings.keep_patches = half ? 0.5 : 1.0;
  settings.batches.mixing = {.mixup = 0.2, .cutmix = 1.0, .probability = 1.0};
  return settings;
}

Recipe whole_image() {
  Recipe recipe;
  recipe.resize_height = recipe.resize_width = recipe.crop_height = recipe.crop_width = kEdge;
  return recipe;
}

void step(benchmark::State& state) {
  const auto width = static_cast<size_t>(state.range(0)),
             depth = static_cast<size_t>(state.range(1)),
             threads = static_cast<size_t>(state.range(3));
  const bool half = state.range(2) == 50;
  const data::Dataset dataset = random_images();
  ThreadPool pool(threads);
  train::Trainer trainer(network_of(model(width, depth)), {dataset, whole_image()},
                         settings_for(half), pool);
  const auto same_tokens = network_of(model(width, depth, half));
  const Model inference = load_model(train::as_checkpoint(same_tokens, {}, {}));
  ModelBatch forward(inference, kImages, threads);
  const auto one_step = [&] {
    if (trainer.epoch_done()) trainer.finish_epoch(0.0, 0.0);
    trainer.step();
  };
  const auto three_passes = [&] {
    for (int i = 0; i < 3; ++i) forward.run_once();
  };
  interleave(state, one_step, three_passes, threads == 1 ? Clock::kProcessor : Clock::kWall);
  state.counters["images/s"] = 1e3 * kImages / state.counters["ours_ms"];
}

BENCHMARK(step)
    ->ArgNames({"width", "depth", "percent", "threads"})
    ->ArgsProduct({{192}, {12}, {100, 50}, {1, 2}})
    ->Args({256, 9, 50, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vit::bench
