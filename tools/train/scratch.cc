#include "tools/train/scratch.h"

#include <cmath>

#include "tools/output/terminal.h"
#include "tools/train/data.h"
#include "tools/train/teach.h"
#include "vit/train/initialize.h"
#include "weights/known/architectures.h"

namespace vit::tools {
namespace {

ModelConfig config_of(const NewModel& model, size_t classes) {
  ModelConfig c;
  if (!model.architecture.empty()) c = weights::config_of(model.architecture);
  const bool plain = model.architecture.empty();
  c.architecture = plain ? "vit_custom" : model.architecture;
  c.embedding.image_height = c.embedding.image_width = model.image_size;
  c.embedding.patch_height = c.embedding.patch_width = model.patch;
  c.encoder.width = model.width;
  c.encoder.depth = model.depth;
  if (plain || c.encoder.key_value_heads == c.encoder.heads)
    c.encoder.key_value_heads = model.heads;
  c.encoder.heads = model.heads;
  c.encoder.mlp_width =
      static_cast<size_t>(std::lround(model.mlp_ratio * static_cast<double>(model.width)));
  if (plain) {
    c.embedding.prefix = model.pooling == Pooling::kMean ? std::vector<PrefixToken>{}
                                                         : std::vector{PrefixToken::kClass};
    c.head.pooling = model.pooling;
  }
  c.head.classes = classes;
  c.embedding.position_grid = c.embedding.grid();
  return c;
}

}  // namespace

RunInput new_run(const TrainSettings& settings, ThreadPool& pool) {
  const NewModel& model = settings.model;
  check_tokens(config_of(model, 1), kMostTokens, "option '--image-size'");
  data::Dataset dataset = read_data(settings, model.image_size, pool);
  const ModelConfig config = config_of(model, dataset.labels.size());
  Recipe recipe;
  recipe.resize_height = recipe.crop_height = model.image_size;
  recipe.resize_width = recipe.crop_width = model.image_size;
  recipe.crop_fraction = 1.0;
  data::measure_statistics(dataset, recipe);
  auto network = gradient::make_network<float>(config);
  train::initialize(network, settings.training.batches.seed, settings.init);
  write_output(std::to_string(network.layout.size()) + " parameters, " +
               std::to_string(config.embedding.tokens()) + " tokens\n");
  const std::uint64_t data_fingerprint = data::fingerprint(dataset);
  std::optional<train::Teaching> teaching =
      ask_teacher(settings, {dataset, recipe}, data_fingerprint, pool);
  return {.dataset = std::move(dataset),
          .data_fingerprint = data_fingerprint,
          .recipe = recipe,
          .teaching = std::move(teaching),
          .network = std::move(network)};
}

}  // namespace vit::tools
