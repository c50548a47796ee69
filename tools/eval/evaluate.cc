#include "tools/eval/evaluate.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <tuple>

#include "vit/base/error.h"

namespace vit::tools {
namespace {

/// Images between two looks at what was found. The workers wait for each other there, so not few.
constexpr size_t kImagesAtOnce = 256;

struct Found {
  Answer answer;
  std::string error;
  bool damaged = false;
};

/// Planes [3, height·width] from right to left.
void mirror(MatrixView planes, size_t width) {
  for (size_t c = 0; c < planes.rows; ++c)
    for (size_t at = 0; at < planes.cols; at += width)
      std::reverse(planes.row(c) + at, planes.row(c) + at + width);
}

class Run {
 public:
  Run(const Classifier& classifier, const LabelledSource& source, size_t worst,
      const EvaluationHooks& hooks, Views views)
      : classifier_(classifier),
        source_(source),
        hooks_(hooks),
        views_(views),
        worst_(worst),
        result_{.tally = Tally(classifier.config().head.classes), .worst = {}, .failures = {}} {}

  Evaluation finish() {
    source_.list([&](LabelledImage image) {
      waiting_.push_back(std::move(image));
      if (waiting_.size() == kImagesAtOnce) run_waiting();
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
        found_[i].answer = answer(waiting_[i], runner, found_[i].damaged);
      } catch (const std::bad_alloc&) {
        found_[i].error = waiting_[i].name + ": out of memory";
      } catch (const std::exception& error) {
        found_[i].error = error.what();
      }
    });
    for (size_t i = 0; i < waiting_.size(); ++i) count(std::move(waiting_[i]), found_[i]);
    waiting_.clear();
    if (hooks_.progressed) hooks_.progressed(result_.tally);
  }

  Answer answer(const LabelledImage& image, Runner& runner, bool& damaged) {
    {
      const Image pixels = source_.read(image);
      damaged = !pixels.damage.empty();
      runner.prepare(pixels);
    }
    std::vector<float> probabilities = run_view(image.name, runner);
    if (views_ == Views::kImageAndMirror) {
      mirror(runner.pixels(), classifier_.recipe().crop_width);
      const std::vector<float> mirrored = run_view(image.name, runner);
      for (size_t i = 0; i < mirrored.size(); ++i)
        probabilities[i] = 0.5f * (probabilities[i] + mirrored[i]);
    }
    return judge(probabilities, image.truth);
  }

  /// Of what the runner's pixels show.
  std::vector<float> run_view(const std::string& name, Runner& runner) const {
    const std::span<const float> logits = runner.logits();
    if (!std::ranges::all_of(logits, [](float x) { return std::isfinite(x); }))
      fail(name, ": the model's answer is not a number");
    return classifier_.probabilities(logits);
  }

  void count(LabelledImage image, const Found& found) {
    if (found.error.empty()) {
      result_.tally.add(found.answer);
      result_.damaged += found.damaged ? 1 : 0;
      if (!found.answer.right()) worst_.add({std::move(image), found.answer});
      return;
    }
    const std::string repeated = image.name + ": ";
    Failure failure{image.name, found.error.starts_with(repeated)
                                    ? found.error.substr(repeated.size())
                                    : found.error};
    ++result_.unreadable;
    if (hooks_.failed) hooks_.failed(failure);
    if (result_.failures.size() < Evaluation::kFailuresKept)
      result_.failures.push_back(std::move(failure));
  }

  const Classifier& classifier_;
  const LabelledSource& source_;
  const EvaluationHooks& hooks_;
  Views views_;
  std::vector<LabelledImage> waiting_;
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

Evaluation evaluate(const Classifier& classifier, const LabelledSource& source, size_t worst,
                    const EvaluationHooks& hooks, Views views) {
  return Run(classifier, source, worst, hooks, views).finish();
}

}  // namespace vit::tools
