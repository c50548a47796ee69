#include "tools/eval/evaluate.h"

#include <algorithm>
#include <tuple>

#include "tools/cli/groups.h"
#include "tools/output/reason.h"

namespace vit::tools {
namespace {

/// Images of the first round and of the largest. Rounds grow: progress is shown soon, and the
/// workers, which wait for each other after each round, seldom wait.
constexpr size_t kFirstImages = 16;
constexpr size_t kImagesAtOnce = 256;

struct Found {
  Answer answer;
  std::vector<double> losses;  // at each temperature
  std::string error;
  bool damaged = false;
};

/// Mirrors planes [3, height·width].
void mirror(MatrixView planes, size_t width) {
  for (size_t c = 0; c < planes.rows; ++c)
    for (size_t at = 0; at < planes.cols; at += width)
      std::reverse(planes.row(c) + at, planes.row(c) + at + width);
}

/// A model over the images of a source.
class EvaluationRun {
 public:
  EvaluationRun(const Classifier& classifier, const LabelledSource& source,
                const EvaluationOptions& options, const EvaluationHooks& hooks)
      : classifier_(classifier),
        source_(source),
        hooks_(hooks),
        options_(options),
        worst_(options.worst),
        result_{.tally = Tally(options.groups != nullptr ? options.groups->count()
                                                         : classifier.config().head.classes,
                               options.abstain_below),
                .worst = {},
                .failures = {}} {}

  Evaluation finish() {
    source_.list([&](LabelledImage image) {
      waiting_.push_back(std::move(image));
      if (waiting_.size() < at_once_) return;
      run_waiting();
      at_once_ = std::min(2 * at_once_, kImagesAtOnce);
    });
    run_waiting();
    result_.worst = worst_.sorted();
    return std::move(result_);
  }

 private:
  void run_waiting() {
    found_.assign(waiting_.size(), {});
    classifier_.for_each(waiting_.size(), [&](size_t i, Runner& runner) {
      try {
        answer(waiting_[i], runner, found_[i]);
      } catch (const std::exception& error) {
        found_[i].error = reason_of(error, waiting_[i].name);
      }
    });
    for (size_t i = 0; i < waiting_.size(); ++i) count(std::move(waiting_[i]), found_[i]);
    waiting_.clear();
    if (hooks_.progressed) hooks_.progressed(result_.tally);
  }

  void answer(const LabelledImage& image, Runner& runner, Found& found) {
    {
      const Image pixels = source_.read(image);
      found.damaged = !pixels.damage.empty();
      runner.prepare(pixels);
    }
    const std::span<const float> logits = run_view(runner);
    std::vector<float> probabilities = classifier_.probabilities(logits);
    if (options_.fit != nullptr) found.losses = TemperatureFit::losses(logits, image.truth);
    if (options_.views == Views::kImageAndMirror) {
      mirror(runner.pixels(), classifier_.recipe().crop_width);
      const auto mirrored = classifier_.probabilities(run_view(runner));
      for (size_t i = 0; i < mirrored.size(); ++i)
        probabilities[i] = 0.5f * (probabilities[i] + mirrored[i]);
    }
    if (options_.groups != nullptr) probabilities = options_.groups->probabilities(probabilities);
    found.answer = judge(probabilities, image.truth);
  }

  /// Logits of the runner's pixels.
  static std::span<const float> run_view(Runner& runner) {
    const std::span<const float> logits = runner.logits();
    check_answer(logits);
    return logits;
  }

  void count(LabelledImage image, const Found& found) {
    if (found.error.empty()) {
      result_.tally.add(found.answer);
      result_.damaged += found.damaged ? 1 : 0;
      if (options_.fit != nullptr) options_.fit->add(found.losses);
      if (hooks_.answered) hooks_.answered(image, found.answer);
      if (!found.answer.right()) worst_.add({std::move(image), found.answer});
      return;
    }
    Failure failure{image.name, found.error};
    ++result_.unreadable;
    if (hooks_.failed) hooks_.failed(failure);
    if (result_.failures.size() < Evaluation::kFailuresKept)
      result_.failures.push_back(std::move(failure));
  }

  const Classifier& classifier_;
  const LabelledSource& source_;
  const EvaluationHooks& hooks_;
  const EvaluationOptions options_;
  std::vector<LabelledImage> waiting_;
  size_t at_once_ = kFirstImages;
  std::vector<Found> found_;  // for each of them
  WorstMistakes worst_;
  Evaluation result_;
};

}  // namespace

bool worse(const Mistake& a, const Mistake& b) {
  const auto key = [](const Mistake& m) {
    return std::tuple(-m.answer.confidence, m.answer.truth_probability,
                      std::string_view(m.image.name), m.image.number);
  };
  return key(a) < key(b);
}

void WorstMistakes::add(Mistake mistake) {
  if (most_ == 0 || (heap_.size() == most_ && !worse(mistake, heap_.front()))) return;
  if (heap_.size() == most_) {
    std::ranges::pop_heap(heap_, worse);
    heap_.pop_back();
  }
  heap_.push_back(std::move(mistake));
  std::ranges::push_heap(heap_, worse);
}

std::vector<Mistake> WorstMistakes::sorted() const {
  std::vector<Mistake> mistakes = heap_;
  std::ranges::sort(mistakes, worse);
  return mistakes;
}

Evaluation evaluate(const Classifier& classifier, const LabelledSource& source,
                    const EvaluationOptions& options, const EvaluationHooks& hooks) {
  return EvaluationRun(classifier, source, options, hooks).finish();
}

}  // namespace vit::tools
