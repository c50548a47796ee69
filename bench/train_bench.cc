// A training step (batch, forward, backward, update) against three forward passes of its images.
#include <benchmark/benchmark.h>

#include "bench/interleaved.h"
#include "vit/train/initialize.h"
#include "vit/train/trainer.h"

namespace vit::bench {
namespace {

constexpr size_t kImages = 64;

train::Dataset random_images(size_t edge) {
  train::Dataset dataset;
  for (size_t i = 0; i < 10; ++i) dataset.labels.push_back(std::to_string(i));
  for (size_t i = 0; i < kImages; ++i) {
    train::Random random({i});
    patch::Image image{edge, edge, std::vector<std::uint8_t>(edge * edge * 3)};
    for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random.below(256));
    dataset.train.push_back({std::move(image), i % 10});
  }
  return dataset;
}

ModelConfig small_model(size_t width, size_t depth) {
  ModelConfig c;
  c.image_height = c.image_width = 32;
  c.patch_height = c.patch_width = 4;
  c.position_grid = c.grid();
  c.prefix = {};
  c.pooling = Pooling::kMean;
  c.width = width;
  c.depth = depth;
  c.heads = c.key_value_heads = 4;
  c.mlp_width = 2 * width;
  c.classes = 10;
  return c;
}

/// evaluate() is the forward pass of every image, and little else.
void step(benchmark::State& state) {
  const ModelConfig config =
      small_model(static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)));
  const train::Dataset dataset = random_images(32);
  auto network = gradient::make_network<float>(config);
  train::initialize(network, 1, train::Start::kMimetic);
  train::Settings settings;
  settings.epochs = 1'000'000;
  settings.batch = kImages;
  settings.batches.recipe.resize_height = settings.batches.recipe.resize_width = 32;
  settings.batches.recipe.crop_height = settings.batches.recipe.crop_width = 32;
  ThreadPool pool(1);
  train::Trainer trainer(network, dataset, settings, pool);
  const auto one_step = [&] {
    if (trainer.epoch_done()) trainer.finish_epoch(0.0, 0.0);
    trainer.step();
  };
  interleave(state, one_step, [&] {
    for (int i = 0; i < 3; ++i)
      train::evaluate(network, dataset.train, settings.batches.recipe, &pool);
  });
}

BENCHMARK(step)->Args({96, 4})->Args({192, 6})->Args({384, 6})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vit::bench
