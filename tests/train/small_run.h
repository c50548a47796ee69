/// A small network and noisy images, for runs of a few steps.
#pragma once

#include <functional>
#include <string>

#include "tests/support/small_config.h"
#include "vit/train/evaluate.h"
#include "vit/train/initialize.h"
#include "vit/train/trainer.h"

namespace vit::train {

/// Noisy images of eight classes, `per_class(label)` of each.
inline data::Dataset noisy_images(const std::function<size_t(size_t)>& per_class) {
  data::Dataset dataset;
  for (size_t label = 0; label < 8; ++label) {
    dataset.labels.push_back("class " + std::to_string(label));
    for (size_t i = 0; i < per_class(label); ++i) {
      Random random({label, i});
      patch::Image image{16, 16, std::vector<std::uint8_t>(16 * 16 * 3)};
      for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random.below(256));
      dataset.train.push_back({image, label});
      dataset.validation.push_back({image, label});
    }
  }
  return dataset;
}

/// Images of a class have nothing in common: a network can only memorize them.
inline data::Dataset noisy_images(size_t per_class = 8) {
  return noisy_images([&](size_t) { return per_class; });
}

inline ModelConfig tiny_config() {
  ModelConfig c = test::small_config(
      {.patch = 4, .width = 32, .depth = 2, .heads = 2, .mlp_width = 64, .classes = 8});
  c.architecture = "tiny";
  c.embedding.prefix = {};
  c.head.pooling = Pooling::kMean;
  return c;
}

inline gradient::Network<float> tiny_network() {
  auto network = gradient::make_network<float>(tiny_config());
  initialize(network, 1, Start::kMimetic);
  return network;
}

inline Recipe tiny_recipe() {
  Recipe recipe;
  recipe.resize_height = recipe.resize_width = recipe.crop_height = recipe.crop_width = 16;
  return recipe;
}

/// Every option that draws random numbers is on.
inline Settings small_settings(size_t epochs) {
  Settings s;
  s.epochs = epochs;
  s.batch = 24;
  s.rate = 3e-3;
  s.warmup_epochs = 1.0;
  s.average = 0.9;
  s.batches.mixing = {.mixup = 0.5, .cutmix = 0.5, .probability = 0.7};
  s.drop_path = 0.2;
  return s;
}

inline void run_to_end(Trainer& trainer) {
  while (!trainer.done()) {
    while (!trainer.epoch_done()) trainer.step();
    trainer.finish_epoch(1.0, 0.5);
  }
}

}  // namespace vit::train
