/// Runs a model over images whose classes are known.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "tools/eval/calibrate.h"
#include "tools/eval/metrics.h"
#include "vit/base/enum_names.h"
#include "vit/model/classifier.h"

namespace vit::tools {

class Groups;

struct LabelledImage {
  std::string name;          ///< for messages: the path of a file
  std::uint64_t number = 0;  ///< its place in the source
  size_t truth = 0;
};

using TakeImage = std::function<void(LabelledImage)>;

/// A source of labelled images. `read` is called by several threads, and again at the end for the
/// images that are shown; it throws an Error for one that cannot be read.
struct LabelledSource {
  std::function<void(const TakeImage& take)> list;
  std::function<patch::Image(const LabelledImage&)> read;
};

struct Mistake {
  LabelledImage image;
  Answer answer;
};

/// A mistake with more confidence is worse; then one with less probability for the truth; then by
/// name.
bool worse(const Mistake& a, const Mistake& b);

/// The worst of any number of mistakes, in the memory of those kept.
class WorstMistakes {
 public:
  explicit WorstMistakes(size_t most) : most_(most) {}

  void add(Mistake mistake);
  /// The worst first.
  std::vector<Mistake> sorted() const;

 private:
  size_t most_;
  std::vector<Mistake> heap_;  ///< the mildest first
};

struct Failure {
  std::string name;
  std::string reason;
};

struct Evaluation {
  Tally tally;
  std::vector<Mistake> worst;
  std::uint64_t unreadable = 0;
  std::uint64_t damaged = 0;      ///< of those in the figures
  std::vector<Failure> failures;  ///< the first kFailuresKept of them

  static constexpr size_t kFailuresKept = 1000;
};

struct EvaluationHooks {
  std::function<void(const Failure&)> failed{};    ///< each of them, at once
  std::function<void(const Tally&)> progressed{};  ///< from time to time
  /// Each image that was read, in the order of the source.
  std::function<void(const LabelledImage&, const Answer&)> answered{};
};

/// The views of an image. With several views the answer is the mean of their probabilities.
enum class Views { kImage, kImageAndMirror };

constexpr auto enum_names(Views) {
  using enum Views;
  return std::to_array<EnumName<Views>>({{kImage, "none"}, {kImageAndMirror, "mirror"}});
}

struct EvaluationOptions {
  size_t worst = 24;  ///< mistakes kept
  Views views = Views::kImage;
  std::optional<double> abstain_below{};
  TemperatureFit* fit = nullptr;  ///< gets the losses of every image; not with several views
  const Groups* groups =
      nullptr;  ///< the classes of the images and of the answers; null: the model's
};

/// Memory does not depend on the number of images: each worker holds one.
Evaluation evaluate(const Classifier& classifier, const LabelledSource& source,
                    const EvaluationOptions& options = {}, const EvaluationHooks& hooks = {});

}  // namespace vit::tools
