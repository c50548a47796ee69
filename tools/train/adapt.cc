#include "tools/train/adapt.h"

#include <algorithm>
#include <chrono>

#include "tools/cli/progress.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/train/data_checks.h"
#include "tools/train/named_classes.h"
#include "tools/train/run.h"
#include "tools/train/teach.h"
#include "vit/model/load.h"
#include "vit/train/export.h"
#include "vit/train/probe.h"
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
  const Model model = load_model(
      checkpoint, {.image_height = recipe.crop_height, .image_width = recipe.crop_width});
  const std::vector<data::Sample> samples = some_of(dataset.train);
  const Matrix features =
      features_of(model, recipe, samples, "features for the first classifier", pool);
  const auto labels = labels_of(samples);
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
    fail(model, ": its classes are independent, expected classes that exclude each other, as in ",
         "training", kAdvice);
  if (classes != dataset.labels.size())
    fail(model, ": has a classifier of ", classes, " classes, expected the ", dataset.labels.size(),
         " of the data", kAdvice);
  const auto [expected, got] = std::ranges::mismatch(dataset.labels, checkpoint.labels);
  if (expected != dataset.labels.end())
    fail(model, ": class ", expected - dataset.labels.begin(), " is ",
         got == checkpoint.labels.end() ? "without a label" : "'" + *got + "'", ", expected '",
         *expected, "' as in the data", kAdvice);
}

/// The network that fine-tuning starts from.
gradient::Network<float> first_network(const weights::Checkpoint& checkpoint,
                                       const data::Dataset& dataset,
                                       const TrainSettings& settings) {
  if (settings.head_start != HeadStart::kKeep)
    return adapted_network(checkpoint, checkpoint.config.head.pooling, dataset.labels.size(),
                           settings.training.batches.seed);
  check_same_classes(checkpoint, dataset, settings.from);
  return gradient::load_network<float>(checkpoint, checkpoint.recipe.crop_height,
                                       checkpoint.recipe.crop_width);
}

}  // namespace

void show_whole(const data::Dataset& dataset, Recipe& recipe) {
  if (train::keep_margins(dataset.train, recipe))
    write_output("images are smaller than the model's input: no margin is cut off\n");
}

std::vector<size_t> labels_of(const std::vector<data::Sample>& samples) {
  std::vector<size_t> labels;
  labels.reserve(samples.size());
  for (const auto& sample : samples) labels.push_back(sample.label);
  return labels;
}

gradient::Network<float> adapted_network(weights::Checkpoint checkpoint, Pooling pooling,
                                         size_t classes, std::uint64_t seed) {
  if (pooling != checkpoint.config.head.pooling) {  // the old classifier does not fit
    checkpoint.config.head.classes = 0;
    checkpoint.config.head.pooling = pooling;
  }
  const Recipe& recipe = checkpoint.recipe;
  return train::with_new_head(
      gradient::load_network<float>(checkpoint, recipe.crop_height, recipe.crop_width), classes,
      seed);
}

size_t input_edge(const weights::Checkpoint& checkpoint) {
  return std::max(checkpoint.recipe.crop_height, checkpoint.recipe.crop_width);
}

Matrix features_of(const Model& model, const Recipe& recipe,
                   const std::vector<data::Sample>& samples, const char* what, ThreadPool& pool) {
  ProgressLine line;
  return train::compute_features(model, recipe, samples, pool, [&](size_t done) {
    line.update([&](size_t) { return count_text(what, done, samples.size()); });
  });
}

data::Dataset read_data(const TrainSettings& settings, size_t edge, ThreadPool& pool) {
  data::DatasetOptions options;
  // Twice the size of the input: crops of a quarter of the image still have full resolution.
  options.short_edge = 2 * edge;
  options.validation_share = settings.validation_share;
  options.seed = settings.training.batches.seed;
  options.most_per_class = settings.most_per_class;
  options.max_pixels = settings.max_pixels;
  options.pool = &pool;
  data::Dataset dataset = data::read_dataset(settings.data, options);
  if (!settings.class_names.empty()) rename_classes(settings.class_names, dataset);
  write_output(printable(settings.data.string()) + ": " + std::to_string(dataset.labels.size()) +
               " classes, " + std::to_string(dataset.train.size()) + " training and " +
               std::to_string(dataset.validation.size()) + " validation images" +
               (dataset.split_by_us ? " (random split)" : "") + "\n");
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, dataset.skipped.size()); ++i)
    write_message("skipped " + dataset.skipped[i]);
  if (dataset.skipped.size() > kShown)
    write_message("skipped " + std::to_string(dataset.skipped.size()) + " files in all");
  if (const std::string other = dataset.other_files.text(); !other.empty()) write_message(other);
  const bool balanced = settings.training.balance != train::Balance::kNone;
  for (const std::string& line : data_warnings(dataset, balanced)) write_message(line);
  if (dataset.damaged != 0)
    write_message(
        std::to_string(dataset.damaged) +
        (dataset.damaged == 1 ? " image is a damaged file" : " images are damaged files") +
        "; the part that could be decoded is used");
  return dataset;
}

int train_finetune(TrainSettings settings, ThreadPool& pool) {
  auto checkpoint =
      weights::open(weights::find_model(settings.from), {.heads = settings.shape.heads});
  if (const size_t edge = settings.shape.image_size; edge != 0)
    checkpoint.recipe = scaled_to(checkpoint.recipe, edge, edge);
  check_tokens(checkpoint.config, kMostTokens, settings.from);
  const data::Dataset dataset = read_data(settings, input_edge(checkpoint), pool);
  show_whole(dataset, checkpoint.recipe);
  settings.training.batches.recipe = checkpoint.recipe;
  const auto teaching = ask_teacher(settings, dataset, pool);
  if (teaching) settings.training.batches.teaching = &*teaching;
  if (settings.batch_by_data) settings.training.batch = batch_for(dataset.train.size());
  const auto start = [&](gradient::Network<float>& network) {
    if (settings.head_start == HeadStart::kProbe)
      train::set_head(fit_start(checkpoint, dataset, settings.training, pool), network);
  };
  return run_training(settings, first_network(checkpoint, dataset, settings), {dataset, start},
                      pool);
}

}  // namespace vit::tools
