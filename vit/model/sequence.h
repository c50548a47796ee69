/// Images on patch grids of their own aspect ratio, up to a number of patches (NaFlex).
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vit/base/thread_pool.h"
#include "vit/model/load.h"
#include "vit/model/runner.h"

namespace vit {

/// In pixels.
struct InputSize {
  size_t height = 0;
  size_t width = 0;

  bool operator==(const InputSize&) const = default;
};

/// The size with the largest factor on both edges of the image that has at most `most_patches`;
/// edges are rounded up to whole patches. Small images are enlarged.
InputSize sequence_size(InputSize image, InputSize patch, size_t most_patches);

struct SequenceOptions {
  size_t most_patches = 0;
  LoadOptions load{};
  RunOptions run{};    ///< the pool is not used
  size_t threads = 0;  ///< that share each image; 0: all that this process may use
};

/// A model whose positions are resampled for each image. Calls may come from any thread and run one
/// after the other.
class SequenceModel {
 public:
  /// Throws an Error if the model has rotary positions or a relative position bias, which are made
  /// for one grid, or no positions that can be resampled.
  SequenceModel(const weights::Checkpoint& checkpoint, const SequenceOptions& options);

  /// As those of Runner.
  std::vector<float> logits(const Image& image);
  std::vector<float> features(const Image& image, FeatureKind kind);

 private:
  Runner& runner_for(const Image& image);

  Model model_;
  Recipe recipe_;
  EmbeddingConfig stored_;  ///< says the grid of the stored table
  Matrix table_;
  SequenceOptions options_;
  std::mutex mutex_;
  ThreadPool pool_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace vit
