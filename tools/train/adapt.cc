#include "tools/train/adapt.h"

#include <algorithm>

#include "tools/train/data.h"
#include "tools/train/teach.h"
#include "vit/model/load.h"
#include "vit/model/open.h"
#include "vit/train/probe.h"
#include "vit/train/set_head.h"
#include "weights/checkpoint.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

/// Enough images for an initial classifier.
constexpr size_t kMostForStart = 10'000;

/// Every n-th image, so that all classes are among them.
std::vector<data::Sample> some_of(const std::vector<data::Sample>& samples) {
  const size_t stride = (samples.size() + kMostForStart - 1) / kMostForStart;
  std::vector<data::Sample> some;
  for (size_t i = 0; i < samples.size(); i += stride) some.push_back(samples[i]);
  return some;
}

/// A classifier on the features of the model before training. With a random one, the first steps
/// would damage the features before the classifier has learned to read them.
train::Logistic fit_start(const weights::Checkpoint& checkpoint, const data::Dataset& dataset,
                          const train::Settings& settings, ThreadPool& pool) {
  const Recipe& recipe = checkpoint.recipe;
  const Model model = load_model(checkpoint);
  const std::vector<data::Sample> samples = some_of(dataset.train);
  const Matrix features =
      features_of(model, recipe, samples, "features for the first classifier", pool);
  const auto labels = train::labels_of(samples);
  const size_t width = checkpoint.config.classifier_inputs();
  return train::fit_logistic({features.view().col_range(0, width), labels, dataset.labels.size()},
                             {.decays = {1e-1, 1e-2, 1e-3},
                              .iterations = 100,
                              .seed = settings.batches.seed,
                              .balanced = settings.balance != train::Balance::kNone},
                             pool);
}

/// A classifier can be kept if its rows are the classes of the data.
void check_same_classes(const weights::Checkpoint& checkpoint, const data::Dataset& dataset,
                        const std::string& model) {
  constexpr const char* kAdvice = "; start from a probe instead (--head-start probe)";
  const size_t classes = checkpoint.config.head.classes;
  if (checkpoint.config.head.multi_label)
    fail_at(model, "its classes are independent, expected classes that exclude each other, as in ",
            "training", kAdvice);
  if (classes != dataset.labels.size())
    fail_at(model, "has a classifier of ", classes, " classes, expected the ",
            dataset.labels.size(), " of the data", kAdvice);
  const auto [expected, got] = std::ranges::mismatch(dataset.labels, checkpoint.labels);
  if (expected != dataset.labels.end())
    fail_at(model, "class ", expected - dataset.labels.begin(), " is ",
            got == checkpoint.labels.end() ? "without a label" : "'" + *got + "'", ", expected '",
            *expected, "' as in the data", kAdvice);
}

/// The network that fine-tuning starts from.
gradient::Network<float> first_network(const weights::Checkpoint& checkpoint,
                                       const data::Dataset& dataset,
                                       const TrainSettings& settings) {
  const bool keeps_head = settings.head_start == HeadStart::kKeep;
  if (keeps_head) check_same_classes(checkpoint, dataset, settings.from);
  auto network = gradient::load_network<float>(checkpoint);
  if (!keeps_head)
    return train::with_new_head(network, dataset.labels.size(), settings.training.batches.seed);
  return network;
}

}  // namespace

RunInput adapting_run(const TrainSettings& settings, ThreadPool& pool) {
  auto checkpoint =
      weights::open(weights::find_model(settings.from), {.heads = settings.model.heads});
  set_input(checkpoint, settings.model.image_size, settings.model.image_size);
  check_tokens(checkpoint.config, kMostTokens, settings.from);
  data::Dataset dataset = read_data(settings, input_edge(checkpoint.recipe), pool);
  show_whole(dataset, checkpoint.recipe);
  const std::uint64_t data_fingerprint = data::fingerprint(dataset);
  std::optional<train::Teaching> teaching =
      ask_teacher(settings, {dataset, checkpoint.recipe}, data_fingerprint, pool);
  gradient::Network<float> network = first_network(checkpoint, dataset, settings);
  RunInput input{.dataset = std::move(dataset),
                 .data_fingerprint = data_fingerprint,
                 .recipe = checkpoint.recipe,
                 .teaching = std::move(teaching),
                 .network = std::move(network)};
  if (settings.head_start == HeadStart::kProbe)
    input.start = [&settings, &pool, checkpoint = std::move(checkpoint)](
                      const data::Dataset& images, gradient::Network<float>& first) {
      train::set_head(fit_start(checkpoint, images, settings.training, pool), first);
    };
  return input;
}

}  // namespace vit::tools
