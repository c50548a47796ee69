#include "tools/train/adapt.h"

#include <algorithm>
#include <chrono>

#include "tools/cli/progress.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/train/final_report.h"
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

}  // namespace

data::Dataset read_data(const TrainSettings& settings, size_t edge, ThreadPool& pool) {
  data::DatasetOptions options;
  // Twice the input keeps all that a crop of a quarter of the image can show.
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
               (dataset.split_by_us ? " (split by chance)" : "") + "\n");
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, dataset.skipped.size()); ++i)
    write_message("skipped " + dataset.skipped[i]);
  if (dataset.skipped.size() > kShown)
    write_message("skipped " + std::to_string(dataset.skipped.size()) + " files in all");
  if (const std::string other = dataset.other_files.text(); !other.empty()) write_message(other);
  if (dataset.damaged != 0)
    write_message(
        std::to_string(dataset.damaged) +
        (dataset.damaged == 1 ? " image is a damaged file" : " images are damaged files") +
        ", used as far as they are there");
  return dataset;
}

int train_probe(const TrainSettings& settings, ThreadPool& pool) {
  const auto start = std::chrono::steady_clock::now();
  auto checkpoint = weights::open(weights::find_model(settings.from));
  check_tokens(checkpoint.config, kMostTokens, settings.from);
  const data::Dataset dataset = read_data(settings, input_edge(checkpoint), pool);
  show_whole(dataset, checkpoint.recipe);
  const Model model = load_model(checkpoint, {.image_height = checkpoint.recipe.crop_height,
                                              .image_width = checkpoint.recipe.crop_width});
  const auto features_of = [&](const std::vector<data::Sample>& samples, const char* what) {
    ProgressLine line;
    return train::compute_features(model, checkpoint.recipe, samples, pool, [&](size_t done) {
      line.update([&](size_t) { return count_text(what, done, samples.size()); });
    });
  };
  const Matrix features = features_of(dataset.train, "features of training images");
  const Matrix others = features_of(dataset.validation, "features of validation images");
  const auto labels = labels_of(dataset.train), other_labels = labels_of(dataset.validation);
  const size_t classes = dataset.labels.size();
  const std::uint64_t seed = settings.training.batches.seed;
  const size_t own_width = checkpoint.config.classifier_inputs();
  const train::Logistic head =
      train::fit_better_logistic({features, labels, classes}, own_width, {.seed = seed}, pool);
  const size_t width = head.weight.cols();
  const Pooling pooling =
      width == own_width ? checkpoint.config.head.pooling : Pooling::kClassAndMean;

  auto network = adapted_network(checkpoint, pooling, classes, seed);
  train::set_head(head, network);
  const double accuracy =
      train::accuracy_of(head, {others.view().col_range(0, width), other_labels, classes});
  train::export_model(settings.output, network, checkpoint.recipe, dataset.labels,
                      {.dtype = settings.half ? weights::DType::kF16 : weights::DType::kF32,
                       .notes = {{"training", "probe from=" + settings.from},
                                 {"validation_accuracy", formatted("%.4f", accuracy)}}});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_output("training accuracy " +
               format_percent(train::accuracy_of(
                   head, {features.view().col_range(0, width), labels, classes})) +
               ", validation accuracy " + format_percent(accuracy) + " on " +
               std::to_string(dataset.validation.size()) + " images, " + format_time(seconds) +
               ", model " + printable(settings.output.string()) + "\n");
  report_model(settings, dataset);
  return 0;
}

int train_finetune(TrainSettings settings, ThreadPool& pool) {
  auto checkpoint = weights::open(weights::find_model(settings.from));
  if (const size_t edge = settings.shape.image_size; edge != 0)
    checkpoint.recipe = scaled_to(checkpoint.recipe, edge, edge);
  check_tokens(checkpoint.config, kMostTokens, settings.from);
  const data::Dataset dataset = read_data(settings, input_edge(checkpoint), pool);
  show_whole(dataset, checkpoint.recipe);
  settings.training.batches.recipe = checkpoint.recipe;
  const auto teaching = ask_teacher(settings, dataset, pool);
  if (teaching) settings.training.batches.teaching = &*teaching;
  return run_training(settings,
                      adapted_network(checkpoint, checkpoint.config.head.pooling,
                                      dataset.labels.size(), settings.training.batches.seed),
                      dataset, pool);
}

}  // namespace vit::tools
