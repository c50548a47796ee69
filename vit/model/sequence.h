/// Images on patch grids of their own aspect ratio, up to a number of patches (NaFlex).
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vit/model/model.h"
#include "vit/model/runner.h"
#include "weights/checkpoint.h"

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
  size_t most_tokens = kMostTokens;  ///< an image of more is refused
  RunOptions run{};                  ///< its pool shares each image
};

/// Runs images on a model whose positions it resamples for each. Calls may come from any thread and
/// run one after the other.
class SequenceRunner {
 public:
  /// `model` is loaded from `checkpoint`, at any size. Throws an Error if the model has rotary
  /// positions or a relative position bias, which are made for one grid, or if it cannot do what
  /// the options ask for.
  SequenceRunner(const weights::Checkpoint& checkpoint, Model model,
                 const SequenceOptions& options);

  /// As those of Runner.
  std::vector<float> logits(const Image& image);
  std::vector<float> features(const Image& image, FeatureKind kind);

 private:
  Runner& runner_for(const Image& image);

  Model model_;  ///< for the size of the last image
  Recipe recipe_;
  Matrix table_;  ///< positions as stored
  SequenceOptions options_;
  std::mutex mutex_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace vit
