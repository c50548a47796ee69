/// The façade: a checkpoint in, named classes with probabilities out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "vit/base/config.h"
#include "vit/base/precision.h"
#include "vit/base/recipe.h"

namespace vit {

class ThreadPool;
struct Model;
enum class FeatureKind;

using patch::Image;
using patch::read_image;

struct Prediction {
  size_t index = 0;
  std::string label;  ///< "class 7" where the checkpoint names none
  float probability = 0.0f;
};

struct ClassifierOptions {
  size_t threads = 0;       ///< 0: all that the machine grants
  size_t heads = 0;         ///< attention heads, where the checkpoint does not say
  size_t image_height = 0;  ///< 0: the checkpoint's own input size
  size_t image_width = 0;
  std::optional<PositionResampling> positions{};  ///< unset: the checkpoint's, else bilinear
  float temperature = 1.0f;                       ///< of the softmax over the classes
  std::vector<HeadId> ablate{};                   ///< heads whose output is taken as zero
  /// Of the blocks' linear layers; unset: int8 where the checkpoint stores them so, else float.
  std::optional<Precision> precision{};
  size_t merge = 0;                  ///< tokens merged after each layer
  size_t most_tokens = kMostTokens;  ///< a model of more, at this image size, is refused
};

/// Immutable after load; every const call may be made from any thread.
class Classifier {
 public:
  /// A folder or a weight file; nothing: $VIT_MODEL, else the model that comes with the toolkit.
  static Classifier load(const std::filesystem::path& model = {},
                         const ClassifierOptions& options = {});

  ~Classifier();
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;

  const ModelConfig& config() const;
  const Recipe& recipe() const;
  const std::vector<std::string>& labels() const;
  /// "deit_tiny_patch16_224", or the file's name where it says no more.
  const std::string& name() const;
  /// For those who look inside: the parts, and the workers that may share them.
  const Model& model() const;
  ThreadPool& threads() const;
  size_t merge() const;  ///< tokens merged after each layer

  /// Raw outputs, one row per image: logits, or features where the model has no classifier. The
  /// answer for an image is the same to the bit whatever the batch around it and the thread count.
  std::vector<std::vector<float>> logits(std::span<const Image> images) const;

  /// What the encoder made of an image, see vit/model/features.h. Throws an Error if the model has
  /// no such tokens. One thread does it all.
  std::vector<float> features(const Image& image, FeatureKind kind) const;

  /// Softmax (or sigmoid for multi-label models) of logits, with the classifier's temperature.
  std::vector<float> probabilities(std::span<const float> logits) const;
  /// The `k` most probable classes, best first; equal ones in the order of their index.
  std::vector<Prediction> top(std::span<const float> probabilities, size_t k) const;

  /// Throws an Error if the answer is not finite.
  std::vector<Prediction> classify(const Image& image, size_t k = 5) const;

 private:
  struct State;
  explicit Classifier(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Throws an Error naming the first number that is NaN or infinite. A model whose weights are all
/// finite may still overflow on an image.
void check_answer(std::span<const float> numbers);

}  // namespace vit
