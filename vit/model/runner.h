/// One worker: runs images through a model, one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "patch/image/image.h"
#include "vit/base/config.h"
#include "vit/base/matrix.h"
#include "vit/base/recipe.h"
#include "vit/model/features.h"

namespace vit {

class ThreadPool;
struct Execution;
struct Model;
struct ModelTaps;
struct ModelWorkspace;

using patch::Image;
using patch::read_image;

struct RunOptions {
  ThreadPool* pool = nullptr;  ///< workers that share each image; null: the calling thread alone
  size_t merge_tokens = 0;     ///< tokens merged after each layer
  std::vector<HeadId> disabled_heads{};  ///< heads whose output is zero
};

/// Owns every buffer of a forward pass; after the first image nothing is allocated. Use one Runner
/// per thread. The model must outlive it. Results are the same to the bit on any number of workers.
class Runner {
 public:
  /// Throws an Error if the model cannot merge tokens or has no such heads.
  Runner(const Model& model, const Recipe& recipe, const RunOptions& options = {});
  ~Runner();
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;

  /// All tokens after the last block, [T, D], valid until the next call.
  MatrixView encode(const Image& image, const ModelTaps* taps = nullptr);
  /// Logits, or features where the model has no classifier, valid until the next call.
  std::span<const float> logits(const Image& image, const ModelTaps* taps = nullptr);
  /// Throws an Error if the model has no such tokens.
  std::vector<float> features(const Image& image, FeatureKind kind);

  /// Fills pixels(): resizes, crops and normalises the image as the recipe says.
  void prepare(const Image& image);
  /// [3, H·W], the model's input.
  MatrixView pixels();

  // As above, on pixels().
  MatrixView encode(const ModelTaps* taps = nullptr);
  std::span<const float> logits(const ModelTaps* taps = nullptr);
  std::vector<float> features(FeatureKind kind);

  /// Workers that share the images to come; null: the calling thread alone.
  void set_pool(ThreadPool* pool);

  const Model& model() const;
  const Recipe& recipe() const;
  // For modules of this library that look inside a forward pass.
  const Execution& execution() const;
  ModelWorkspace& workspace();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vit
