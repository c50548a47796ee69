#include "weights/known/catalogue.h"

#include <algorithm>
#include <sstream>

#include "weights/known/architectures.h"
#include "weights/known/resources.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

/// "google/vit-base-patch16-224 vit_base_patch16_224 224 1000"
CatalogueModel read_row(const std::string& line) {
  std::istringstream row(line);
  CatalogueModel model;
  std::string mark;
  row >> model.hub >> model.architecture >> model.image_size >> model.classes >> mark;
  model.name = model.hub.substr(model.hub.find('/') + 1);
  model.class_and_mean = mark == "class-and-mean";
  return model;
}

std::vector<CatalogueModel> read_catalogue() {
  std::vector<CatalogueModel> models;
  for (const auto& published : published_checkpoints())
    if (!published.hub.empty())
      models.push_back({published.name, published.hub, published.architecture,
                        published.recipe.crop_height, published.classes});
  std::istringstream lines{std::string(resources::kHubModels)};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') models.push_back(read_row(line));
  std::ranges::sort(models, {}, &CatalogueModel::name);
  return models;
}

}  // namespace

std::span<const CatalogueModel> catalogue() {
  static const auto kModels = read_catalogue();
  return kModels;
}

std::vector<CatalogueModel> find_in_catalogue(std::string_view name) {
  std::vector<CatalogueModel> same_architecture;
  for (const auto& model : catalogue()) {
    if (model.name == name || model.hub == name) return {model};
    // Only timm names its checkpoints after their architecture.
    const bool tagged = model.name.starts_with(name) && model.name.substr(name.size(), 1) == ".";
    if (tagged) same_architecture.push_back(model);
  }
  return same_architecture;
}

size_t parameters_of(const CatalogueModel& model) {
  ModelConfig config =
      config_of(model.architecture, {{"num_classes", std::to_string(model.classes)}});
  if (model.class_and_mean) config.head.pooling = Pooling::kClassAndMean;
  size_t sum = 0;
  for_each_tensor(config, [&](const TensorSpec& spec) {
    if (!spec.optional) sum += spec.size();
  });
  return sum;
}

}  // namespace vit::weights
