#include "tools/train/train.h"

#include "tools/output/terminal.h"
#include "tools/train/run.h"
#include "tools/train/settings.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit train photos/ -o mine.safetensors --from deit_tiny_patch16_224\n"
    "  vit train photos/ -o mine.safetensors --from deit_tiny_patch16_224 --finetune --epochs 5\n"
    "  vit train cifar10/ -o cifar10.safetensors --width 192 --depth 9 --mlp-ratio 2\n"
    "  vit train cifar10/ -o cifar10.safetensors --width 192 --depth 9 --mlp-ratio 2 --resume\n";

train::Dataset read_data(const TrainSettings& settings, ThreadPool& pool) {
  train::DatasetOptions options;
  // Twice the input keeps all that a crop of a quarter of the image can show.
  options.short_edge = 2 * settings.shape.image_size;
  options.validation_share = settings.validation_share;
  options.seed = settings.training.batches.seed;
  options.most_per_class = settings.most_per_class;
  options.pool = &pool;
  train::Dataset dataset = train::read_dataset(settings.data, options);
  std::string line = settings.data.string() + ": " + std::to_string(dataset.labels.size()) +
                     " classes, " + std::to_string(dataset.train.size()) + " training and " +
                     std::to_string(dataset.validation.size()) + " validation images" +
                     (dataset.split_by_us ? " (split by chance)" : "") + "\n";
  write_output(line);
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, dataset.skipped.size()); ++i)
    write_message("skipped " + dataset.skipped[i]);
  if (dataset.skipped.size() > kShown)
    write_message("skipped " + std::to_string(dataset.skipped.size()) + " files in all");
  return dataset;
}

int train_from_scratch(TrainSettings settings, ThreadPool& pool) {
  const train::Dataset dataset = read_data(settings, pool);
  const ModelConfig config = new_model(settings.shape, dataset.labels.size());
  Recipe& recipe = settings.training.batches.recipe;
  recipe = Recipe{};
  recipe.resize_height = recipe.crop_height = settings.shape.image_size;
  recipe.resize_width = recipe.crop_width = settings.shape.image_size;
  recipe.crop_fraction = 1.0;
  train::measure_statistics(dataset, recipe);
  auto network = gradient::make_network<float>(config);
  train::initialize(network, settings.training.batches.seed, settings.start);
  write_output(std::to_string(network.layout.size()) + " parameters, " +
               std::to_string(config.tokens()) + " tokens\n");
  return run_training(settings, std::move(network), dataset, pool);
}

}  // namespace

int run_train(Arguments arguments) {
  cxxopts::Options options = train_options();
  const auto parsed = parse(options, arguments);
  if (parsed.count("help")) {
    write_output(help_text(options, {"", "Model", "Learning", "Images", "Machine"}, kExamples));
    return 0;
  }
  const TrainSettings settings = parse_train_settings(parsed);
  ThreadPool pool(settings.threads);
  return train_from_scratch(settings, pool);
}

}  // namespace vit::tools
