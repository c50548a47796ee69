#include "vit/model/classifier.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "patch/patchify.h"
#include "vit/base/error.h"
#include "vit/base/thread_pool.h"
#include "vit/model/features.h"
#include "vit/model/load.h"
#include "weights/known/default_model.h"

namespace vit {
namespace {

/// Workspaces at rest. A call takes one per image it has under way and gives it back.
class WorkspacePool {
 public:
  WorkspacePool(const Model& model, size_t merge) : model_(&model), merge_(merge) {
    give_back(take());  // a model that cannot merge is refused now, not with the first image
  }

  std::unique_ptr<ModelWorkspace> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!resting_.empty()) {
        auto workspace = std::move(resting_.back());
        resting_.pop_back();
        return workspace;
      }
    }
    return std::make_unique<ModelWorkspace>(*model_, merge_);
  }
  void give_back(std::unique_ptr<ModelWorkspace> workspace) {
    const std::lock_guard lock(mutex_);
    resting_.push_back(std::move(workspace));
  }

 private:
  const Model* model_;
  size_t merge_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ModelWorkspace>> resting_;
};

/// How many of `images` run one per worker; each of the others is shared by all workers.
size_t images_run_whole(size_t images, size_t workers) {
  const size_t rest = images % workers;
  return 2 * rest > workers ? images : images - rest;
}

/// Which heads of each layer are silent; empty where none is.
std::vector<std::vector<size_t>> silenced_heads(const std::vector<HeadId>& ablate,
                                                const ModelConfig& config) {
  if (ablate.empty()) return {};
  std::vector<std::vector<size_t>> silenced(config.encoder.depth);
  const size_t heads = config.encoder.heads * config.encoder.branches;
  for (const auto [layer, head] : ablate) {
    if (layer >= config.encoder.depth || head >= heads)
      fail("head ", layer, ":", head, " cannot be ablated: the model has layers 0 to ",
           config.encoder.depth - 1, " with heads 0 to ", heads - 1);
    silenced[layer].push_back(head);
  }
  return silenced;
}

}  // namespace

struct Classifier::State {
  Model model;
  Recipe recipe;
  std::vector<std::string> labels;
  std::string name;
  float temperature;
  size_t merge;
  ModelTaps ablation;  ///< hands nothing over
  mutable ThreadPool threads;
  mutable WorkspacePool workspaces;

  State(Model loaded, const weights::Checkpoint& checkpoint, const Recipe& used,
        const ClassifierOptions& options)
      : model(std::move(loaded)),
        recipe(used),
        labels(checkpoint.labels),
        name(model.config.architecture),
        temperature(options.temperature),
        merge(options.merge),
        ablation{.encoder = {.attention = {},
                             .block = {},
                             .silenced = silenced_heads(options.ablate, model.config)},
                 .pixels = {},
                 .tokens = {},
                 .pooling = {}},
        threads(options.threads),
        workspaces(model, options.merge) {
    if (name.empty()) name = std::filesystem::path(checkpoint.path).stem().string();
  }

  std::vector<float> run_image(const Image& image, ThreadPool* pool,
                               const ModelTaps* taps = nullptr) const {
    auto workspace = workspaces.take();
    workspace->encoder.pool = pool;
    patch::apply_recipe(image, recipe, workspace->recipe, workspace->pixels);
    std::vector<float> output(model.config.outputs());
    if (taps == nullptr && !ablation.encoder.silenced.empty()) taps = &ablation;
    run(model, *workspace, output, taps);
    workspaces.give_back(std::move(workspace));
    return output;
  }
};

Classifier Classifier::load(const std::filesystem::path& path, const ClassifierOptions& options) {
  if (!(options.temperature > 0.0f) || !std::isfinite(options.temperature))
    fail("temperature is ", options.temperature, ", expected a finite number above 0");
  const weights::Checkpoint checkpoint =
      weights::open(path.empty() ? weights::default_model() : path, {.heads = options.heads});
  Recipe recipe = checkpoint.recipe;
  if (options.image_height != 0 || options.image_width != 0)
    recipe =
        scaled_to(recipe, options.image_height != 0 ? options.image_height : recipe.crop_height,
                  options.image_width != 0 ? options.image_width : recipe.crop_width);
  if (recipe !=
      checkpoint.recipe)  // a size that somebody chose; a checkpoint's own may leave a rest
    patch::patch_grid(recipe.crop_height, recipe.crop_width,
                      checkpoint.config.embedding.patch_height,
                      checkpoint.config.embedding.patch_width);
  validate(recipe, checkpoint.path);
  // The recipe decides the input size: DINOv2's classifiers, say, run at 224 on a table made for
  // 518.
  Model model = load_model(checkpoint, {.image_height = recipe.crop_height,
                                        .image_width = recipe.crop_width,
                                        .positions = options.positions,
                                        .precision = options.precision,
                                        .most_tokens = options.most_tokens});
  return Classifier(std::make_unique<State>(std::move(model), checkpoint, recipe, options));
}

Classifier::Classifier(std::unique_ptr<State> state) : state_(std::move(state)) {}
Classifier::~Classifier() = default;
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;

const ModelConfig& Classifier::config() const {
  return state_->model.config;
}
const Recipe& Classifier::recipe() const {
  return state_->recipe;
}
const std::vector<std::string>& Classifier::labels() const {
  return state_->labels;
}
const std::string& Classifier::name() const {
  return state_->name;
}

const Model& Classifier::model() const {
  return state_->model;
}
ThreadPool& Classifier::threads() const {
  return state_->threads;
}
size_t Classifier::merge() const {
  return state_->merge;
}

std::vector<std::vector<float>> Classifier::logits(std::span<const Image> images) const {
  const State& s = *state_;
  std::vector<std::vector<float>> outputs(images.size());
  const size_t whole = images_run_whole(images.size(), s.threads.size());
  parallel_for(&s.threads, whole,
               [&](size_t i, size_t) { outputs[i] = s.run_image(images[i], nullptr); });
  for (size_t i = whole; i < images.size(); ++i) outputs[i] = s.run_image(images[i], &s.threads);
  return outputs;
}

std::vector<float> Classifier::features(const Image& image, FeatureKind kind) const {
  const State& s = *state_;
  check_features(config(), kind);
  std::vector<float> features;
  ModelTaps taps = s.ablation;
  taps.encoder.block = [&](size_t layer, ConstMatrixView tokens) {
    if (layer + 1 != config().encoder.depth) return;
    Matrix copy(tokens.rows, tokens.cols);
    for (size_t r = 0; r < tokens.rows; ++r)
      std::copy_n(tokens.row(r), tokens.cols, copy.view().row(r));
    features = features_of(s.model, copy, kind);
  };
  s.run_image(image, nullptr, &taps);
  return features;
}

std::vector<float> Classifier::probabilities(std::span<const float> logits) const {
  std::vector<double> exponentials(logits.size());
  const auto temperature = static_cast<double>(state_->temperature);
  if (config().head.multi_label) {
    std::transform(logits.begin(), logits.end(), exponentials.begin(),
                   [&](float x) { return 1.0 / (1.0 + std::exp(-x / temperature)); });
  } else if (!logits.empty()) {
    const float highest = *std::max_element(logits.begin(), logits.end());
    std::transform(logits.begin(), logits.end(), exponentials.begin(),
                   [&](float x) { return std::exp((double{x} - double{highest}) / temperature); });
    const double sum = std::accumulate(exponentials.begin(), exponentials.end(), 0.0);
    for (double& e : exponentials) e /= sum;
  }
  return {exponentials.begin(), exponentials.end()};
}

std::vector<Prediction> Classifier::top(std::span<const float> probabilities, size_t k) const {
  std::vector<size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  k = std::min(k, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
      [&](size_t a, size_t b) {
        return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
      });
  std::vector<Prediction> best;
  for (size_t i = 0; i < k; ++i) {
    const size_t index = order[i];
    const bool named = index < state_->labels.size();
    best.push_back({.index = index,
                    .label = named ? state_->labels[index] : "class " + std::to_string(index),
                    .probability = probabilities[index]});
  }
  return best;
}

std::vector<Prediction> Classifier::classify(const Image& image, size_t k) const {
  if (config().head.classes == 0)
    fail(name(), ": this model has no classifier, its output is features; use logits() for them");
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
