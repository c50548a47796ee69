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
struct ForwardRecord;
struct Model;
struct ModelTaps;

using patch::Image;
using patch::read_image;

struct RunOptions {
  ThreadPool* pool = nullptr;  ///< workers that share each image; null: the calling thread alone
  size_t merge_tokens = 0;     ///< tokens merged after each layer
  std::vector<HeadId> disabled_heads{};  ///< heads whose output is zero
};

/// Owns every buffer of a forward pass; after the first image nothing is allocated. Use one Runner
/// per thread. The model must outlive it. Results are the same to the bit on any number of workers.
/// Classifier::runner() makes one.
class Runner {
 public:
  ~Runner();
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;

  /// All tokens after the last block, [T, D], valid until the next call.
  MatrixView encode(const Image& image);
  /// Logits, or features where the model has no classifier, valid until the next call.
  std::span<const float> logits(const Image& image);
  /// Throws an Error if the model has no such tokens.
  std::vector<float> features(const Image& image, FeatureKind kind);

  /// Fills pixels(): resizes, crops and normalises the image as the recipe says.
  void prepare(const Image& image);
  /// [3, H·W], the model's input.
  MatrixView pixels();

  // As above, on pixels().
  MatrixView encode();
  std::span<const float> logits();
  std::vector<float> features(FeatureKind kind);

  /// [N, 3·P·P]: the pixels as the last forward pass cut them, or what a convolutional stem made of
  /// them.
  ConstMatrixView patches() const;
  const Recipe& recipe() const;

  // For the modules of this library: vit/model/model.h says what goes in here.

  /// Throws an Error if the model cannot merge tokens or has no such heads.
  Runner(const Model& model, const Recipe& recipe, const RunOptions& options = {});
  const Model& model() const;
  /// Workers that share the images to come; null: the calling thread alone.
  void set_pool(ThreadPool* pool);

  /// Observed passes; null: not observed.
  MatrixView encode(const Image& image, const ModelTaps* taps);
  MatrixView encode(const ModelTaps* taps);
  std::span<const float> logits(const Image& image, const ModelTaps* taps);
  std::span<const float> logits(const ModelTaps* taps);

  /// As logits(). `record` is then what resume_without() needs.
  std::span<const float> logits(ForwardRecord& record);
  /// The logits of the recorded pass with one more head disabled. Only its layer and those after it
  /// are computed; tokens merge anew in them. The same to the bit as a Runner with that head
  /// disabled gives.
  std::span<const float> resume_without(HeadId head, const ForwardRecord& record);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vit
