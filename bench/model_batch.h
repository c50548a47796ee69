/// Images of made-up numbers that a model runs together.
#pragma once

#include <memory>
#include <vector>

#include "vit/base/thread_pool.h"
#include "vit/model/model.h"

namespace vit::bench {

/// The same numbers as in bench/compare.
inline void fill_pixels(Matrix& pixels, size_t first) {
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels.data()[i] = static_cast<float>((first + i) * 7919 % 1000) / 500.0f - 1.0f;
}

/// A batch as the classifier runs it: an image per worker, a single image by all of them.
class ModelBatch {
 public:
  ModelBatch(const Model& model, size_t images, size_t threads, size_t merge = 0)
      : model_(model),
        pool_(threads),
        outputs_(images, std::vector<float>(model.config.outputs())) {
    for (size_t i = 0; i < images; ++i) {
      workspaces_.push_back(std::make_unique<ModelWorkspace>(model, merge));
      fill_pixels(workspaces_[i]->pixels, i * workspaces_[i]->pixels.size());
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

}  // namespace vit::bench
