#include "tools/train/data.h"

#include <algorithm>

#include "tools/cli/progress.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/train/data_checks.h"
#include "tools/train/named_classes.h"
#include "vit/train/probe.h"

namespace vit::tools {

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

size_t input_edge(const Recipe& recipe) {
  return std::max(recipe.crop_height, recipe.crop_width);
}

void show_whole(const data::Dataset& dataset, Recipe& recipe) {
  if (train::keep_margins(dataset.train, recipe))
    write_output("images are smaller than the model's input: no margin is cut off\n");
}

Matrix features_of(const Model& model, const Recipe& recipe,
                   const std::vector<data::Sample>& samples, const char* what, ThreadPool& pool) {
  ProgressLine line;
  return train::compute_features(model, recipe, samples, pool, [&](size_t done) {
    line.update([&](size_t) { return count_text(what, done, samples.size()); });
  });
}

}  // namespace vit::tools
