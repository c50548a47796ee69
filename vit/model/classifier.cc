#include "vit/model/classifier.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "vit/base/error.h"
#include "vit/base/thread_pool.h"
#include "vit/model/load.h"
#include "vit/model/open.h"
#include "vit/model/predictions.h"
#include "vit/model/sequence.h"
#include "weights/store.h"

namespace vit {
namespace {

/// Idle runners. A call takes one per image in progress and returns it.
class RunnerPool {
 public:
  RunnerPool(Model model, const Recipe& recipe, RunOptions options)
      : model_(std::move(model)), recipe_(recipe), options_(std::move(options)) {
    give_back(take(nullptr));  // options that the model cannot satisfy are refused now
  }

  Runner make(ThreadPool* pool) const {
    RunOptions options = options_;
    options.pool = pool;
    return {model_, recipe_, options};
  }

  std::unique_ptr<Runner> take(ThreadPool* pool) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto runner = std::move(idle_.back());
        idle_.pop_back();
        runner->set_pool(pool);
        return runner;
      }
    }
    return std::make_unique<Runner>(make(pool));
  }
  void give_back(std::unique_ptr<Runner> runner) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(runner));
  }

 private:
  const Model model_;
  Recipe recipe_;
  RunOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Runner>> idle_;
};

/// How many of `images` run one per worker; all workers share each of the others.
size_t images_run_whole(size_t images, size_t workers) {
  const size_t rest = images % workers;
  return 2 * rest > workers ? images : images - rest;
}

void check_options(const ClassifierOptions& options) {
  if (!(options.temperature > 0.0f) || !std::isfinite(options.temperature))
    fail("temperature is ", options.temperature, ", expected a finite number above 0");
  if (options.max_patches != 0 && (options.image_height != 0 || options.image_width != 0))
    fail("an image size and a number of patches are given, expected one of them");
}

}  // namespace

struct Classifier::State {
  std::filesystem::path path;
  ModelConfig config;
  Recipe recipe;
  std::vector<std::string> labels;
  std::vector<std::string> wordnet_ids;
  std::string name;
  float temperature;
  mutable ThreadPool threads;
  // One of the two has the model.
  mutable std::optional<RunnerPool> runners;        ///< one size for all images
  mutable std::optional<SequenceRunner> sequences;  ///< a size for each

  State(Model model, const weights::Checkpoint& checkpoint, const ClassifierOptions& options)
      : path(checkpoint.path),
        config(model.config),
        recipe(checkpoint.recipe),
        labels(checkpoint.labels),
        wordnet_ids(checkpoint.wordnet_ids),
        name(name_of(checkpoint)),
        temperature(options.temperature),
        threads(options.threads) {
    RunOptions run{.merge_tokens = options.merge_tokens, .disabled_heads = options.disabled_heads};
    if (options.max_patches == 0) {
      runners.emplace(std::move(model), recipe, std::move(run));
      return;
    }
    run.pool = &threads;
    sequences.emplace(checkpoint, std::move(model),
                      SequenceOptions{.most_patches = options.max_patches,
                                      .most_tokens = options.most_tokens,
                                      .run = std::move(run)});
  }

  RunnerPool& pool() const {
    if (!runners) fail_at(name, "each image runs at a size of its own; use logits() or features()");
    return *runners;
  }

  /// Calls task(runner) with an idle runner whose image is shared by `workers`.
  template <typename Task>
  void with_runner(ThreadPool* workers, const Task& task) const {
    auto runner = pool().take(workers);
    task(*runner);
    pool().give_back(std::move(runner));
  }
};

Classifier Classifier::load(const std::filesystem::path& model, const ClassifierOptions& options) {
  check_options(options);
  weights::Checkpoint checkpoint = open_checkpoint(weights::find_model(model.string()), options);
  set_input(checkpoint, options.image_height, options.image_width, options.positions);
  return from(checkpoint, options);
}

Classifier Classifier::from(const weights::Checkpoint& checkpoint,
                            const ClassifierOptions& options) {
  check_options(options);
  Model model =
      load_model(checkpoint, {.precision = options.precision, .most_tokens = options.most_tokens});
  return Classifier(std::make_unique<State>(std::move(model), checkpoint, options));
}

Classifier::Classifier(std::unique_ptr<State> state) : state_(std::move(state)) {}
Classifier::~Classifier() = default;
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;

const std::filesystem::path& Classifier::path() const {
  return state_->path;
}
const ModelConfig& Classifier::config() const {
  return state_->config;
}
const Recipe& Classifier::recipe() const {
  return state_->recipe;
}
const std::vector<std::string>& Classifier::labels() const {
  return state_->labels;
}

const std::vector<std::string>& Classifier::wordnet_ids() const {
  return state_->wordnet_ids;
}
const std::string& Classifier::name() const {
  return state_->name;
}

Runner Classifier::runner() const {
  return state_->pool().make(nullptr);
}

Runner Classifier::shared_runner() const {
  return state_->pool().make(&state_->threads);
}

void Classifier::for_each(size_t count,
                          const std::function<void(size_t index, Runner& runner)>& task) const {
  parallel_for(&state_->threads, count, [&](size_t index, size_t) {
    state_->with_runner(nullptr, [&](Runner& runner) { task(index, runner); });
  });
}

std::vector<std::vector<float>> Classifier::logits(std::span<const Image> images) const {
  const State& s = *state_;
  std::vector<std::vector<float>> outputs(images.size());
  if (s.sequences) {
    std::ranges::transform(images, outputs.begin(),
                           [&](const Image& image) { return s.sequences->logits(image); });
    return outputs;
  }
  const auto run = [&](size_t i, Runner& runner) {
    const std::span<const float> logits = runner.logits(images[i]);
    outputs[i].assign(logits.begin(), logits.end());
  };
  const size_t whole = images_run_whole(images.size(), s.threads.size());
  for_each(whole, run);
  for (size_t i = whole; i < images.size(); ++i)
    s.with_runner(&s.threads, [&](Runner& runner) { run(i, runner); });
  return outputs;
}

std::vector<float> Classifier::features(const Image& image, FeatureKind kind) const {
  if (state_->sequences) return state_->sequences->features(image, kind);
  std::vector<float> features;
  state_->with_runner(nullptr, [&](Runner& runner) { features = runner.features(image, kind); });
  return features;
}

std::string Classifier::label(size_t index) const {
  const std::vector<std::string>& labels = state_->labels;
  return index < labels.size() ? labels[index] : "class " + std::to_string(index);
}

std::vector<float> Classifier::probabilities(std::span<const float> logits) const {
  return probabilities_of(logits, config().head.multi_label, state_->temperature);
}

std::vector<Prediction> Classifier::top(std::span<const float> probabilities, size_t k) const {
  std::vector<Prediction> best;
  for (const size_t index : largest(probabilities, k))
    best.push_back({.index = index, .label = label(index), .probability = probabilities[index]});
  return best;
}

std::vector<Prediction> Classifier::classify(const Image& image, size_t k) const {
  if (config().head.classes == 0)
    fail_at(name(), "this model has no classifier, its output is features; use logits() for them");
  const auto outputs = logits({&image, 1});
  check_answer(outputs.front());
  return top(probabilities(outputs.front()), k);
}

void check_answer(std::span<const float> numbers) {
  const auto bad = std::ranges::find_if(numbers, [](float x) { return !std::isfinite(x); });
  if (bad == numbers.end()) return;
  fail("the model's answer is not finite: number ", bad - numbers.begin(), " of ", numbers.size(),
       " is ", *bad);
}

}  // namespace vit
