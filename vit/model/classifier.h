/// From a checkpoint to named classes with probabilities.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/recipe.h"
#include "vit/model/classifier_options.h"
#include "vit/model/runner.h"

namespace vit {

namespace weights {
class Checkpoint;
}

struct Prediction {
  size_t index = 0;
  std::string label;  ///< "class 7" where the checkpoint has no names
  float probability = 0.0f;
};

/// Immutable after loading; every const call may be made from any thread. Runners must not outlive
/// it.
class Classifier {
 public:
  /// A folder, a weight file, or the name of a downloaded model; nothing: $VIT_MODEL, else the
  /// bundled model. See weights::find_model().
  static Classifier load(const std::filesystem::path& model = {},
                         const ClassifierOptions& options = {});
  /// For the modules of this library: load() after the model was opened, as open_checkpoint() and
  /// set_input() do with these options (vit/model/open.h).
  static Classifier from(const weights::Checkpoint& checkpoint, const ClassifierOptions& options);

  ~Classifier();
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;

  /// The file or folder that it was loaded from.
  const std::filesystem::path& path() const;
  const ModelConfig& config() const;
  const Recipe& recipe() const;
  const std::vector<std::string>& labels() const;
  /// "class 7" where the model does not store them.
  std::string label(size_t index) const;
  /// One per class, or empty where the model does not store them.
  const std::vector<std::string>& wordnet_ids() const;
  /// "deit_tiny_patch16_224", or the file name where the checkpoint has no name.
  const std::string& name() const;

  // Runners are made for one size of all images: with `max_patches` these three throw an Error.

  /// A worker of its own for the calling thread, with the classifier's options.
  Runner runner() const;
  /// A worker whose images are shared by all threads of the classifier.
  Runner shared_runner() const;
  /// Calls task(index, runner) once for every index below `count`, on all threads, each with a
  /// runner of its own. The first exception is thrown again here.
  void for_each(size_t count, const std::function<void(size_t index, Runner& runner)>& task) const;

  /// Raw outputs, one row per image: logits, or features where the model has no classifier. The
  /// result for an image is the same to the bit for every batch and number of threads.
  std::vector<std::vector<float>> logits(std::span<const Image> images) const;

  /// See FeatureKind. Throws an Error if the model has no such tokens. Runs on one thread, with
  /// `max_patches` on all.
  std::vector<float> features(const Image& image, FeatureKind kind) const;

  /// Softmax (or sigmoid for multi-label models) of logits, with the classifier's temperature.
  std::vector<float> probabilities(std::span<const float> logits) const;
  /// The `k` most probable classes, best first; ties in the order of their index.
  std::vector<Prediction> top(std::span<const float> probabilities, size_t k) const;

  /// Throws an Error if the model has no classifier or an output is NaN or infinite.
  std::vector<Prediction> classify(const Image& image, size_t k = 5) const;

 private:
  struct State;
  explicit Classifier(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Throws an Error naming the first number that is NaN or infinite. A model with finite weights may
/// still overflow on an image.
void check_answer(std::span<const float> numbers);

}  // namespace vit
