/// Images of synthetic pixels that a model runs together.
#pragma once

#include <vector>

#include "vit/base/thread_pool.h"
#include "vit/model/model.h"
#include "vit/model/runner.h"

namespace vit::bench {

/// The same numbers as in bench/compare.
inline void fill_pixels(MatrixView pixels, size_t first) {
  for (size_t i = 0; i < pixels.rows * pixels.cols; ++i)
    pixels.data[i] = static_cast<float>((first + i) * 7919 % 1000) / 500.0f - 1.0f;
}

/// A batch as the classifier runs it: one image per worker; all workers share a single image.
class ModelBatch {
 public:
  ModelBatch(const Model& model, size_t images, size_t threads, size_t merge_tokens = 0)
      : pool_(threads) {
    for (size_t i = 0; i < images; ++i) {
      runners_.emplace_back(
          model, Recipe{},
          RunOptions{.pool = images == 1 ? &pool_ : nullptr, .merge_tokens = merge_tokens});
      const MatrixView pixels = runners_.back().pixels();
      fill_pixels(pixels, i * pixels.rows * pixels.cols);
    }
  }

  void run_once() {
    if (runners_.size() == 1) return void(runners_.front().logits());
    parallel_for(&pool_, runners_.size(), [&](size_t i, size_t) { runners_[i].logits(); });
  }
  std::span<const float> first() { return runners_.front().logits(); }

 private:
  ThreadPool pool_;
  std::vector<Runner> runners_;
};

}  // namespace vit::bench
