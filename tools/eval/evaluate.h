/// Runs a model over images whose classes are known.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "tools/eval/metrics.h"
#include "vit/model/classifier.h"

namespace vit::tools {

struct LabelledImage {
  std::string name;          ///< for people: the path of a file
  std::uint64_t number = 0;  ///< its place in the source
  size_t truth = 0;
};

using TakeImage = std::function<void(LabelledImage)>;

/// Where images come from, one after the other. `read` is called by several threads and again, at
/// the end, for the images that are shown; it throws an Error for one that cannot be read.
struct LabelledSource {
  std::function<void(const TakeImage& take)> list;
  std::function<patch::Image(const LabelledImage&)> read;
};

struct Mistake {
  LabelledImage image;
  Answer answer;
};

/// Surer and wrong is worse; then the less was left for the truth; then by name.
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
  std::vector<Mistake> heap_;  ///< the mildest in front
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
  std::function<void(const Tally&)> progressed{};  ///< every now and then
};

/// What a model sees of an image. With several views its answer is the mean of their probabilities.
enum class Views { kImage, kImageAndMirror };

/// Memory does not depend on the number of images: each worker holds one.
Evaluation evaluate(const Classifier& classifier, const LabelledSource& source, size_t worst,
                    const EvaluationHooks& hooks = {}, Views views = Views::kImage);

}  // namespace vit::tools
