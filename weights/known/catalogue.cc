#include "weights/known/catalogue.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "weights/known/architectures.h"
#include "weights/known/resources.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

/// ImageNet-1k, -21k as MIIL cut it, -12k, -22k without and with two classes of other sets. Every
/// other number of outputs is the width of an embedding.
constexpr size_t kClassCounts[] = {1000, 11221, 11821, 21841, 21843};

struct Family {
  std::string_view part;  ///< of the names of its models
  std::string_view name;
};

/// In the order in which they are tried.
constexpr Family kFamilies[] = {
    {"naflexvit", "naflex"}, {"cait", "cait"},         {"beit3", "beit3"},   {"beit", "beit"},
    {"data2vec", "beit"},    {"dinov3", "dinov3"},     {"dinov2", "dinov2"}, {"dino", "dino"},
    {"eva", "eva"},          {"_pe_", "pe"},           {"_rope_", "rope"},   {"relpos", "relpos"},
    {"siglip", "siglip"},    {"clip", "clip"},         {"aimv2", "aimv2"},   {"deit3", "deit3"},
    {"deit", "deit"},        {"flexivit", "flexivit"}, {"mae", "mae"},
};

void set_outputs(size_t outputs, CatalogueModel& model) {
  const bool classes = std::ranges::find(kClassCounts, outputs) != std::end(kClassCounts);
  (classes ? model.classes : model.embedding) = outputs;
}

/// "google/vit-base-patch16-224 vit_base_patch16_224 224 1000"
CatalogueModel read_row(const std::string& line) {
  std::istringstream row(line);
  CatalogueModel model;
  std::string mark;
  size_t outputs = 0;
  row >> model.hub >> model.architecture >> model.image_size >> outputs >> mark;
  set_outputs(outputs, model);
  model.name = model.hub.substr(model.hub.find('/') + 1);
  model.class_and_mean = mark == "class-and-mean";
  return model;
}

template <typename Use>
void for_each_row(std::string_view text, Use&& use) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') use(line);
}

std::map<std::string, double> read_accuracy() {
  std::map<std::string, double> accuracy;
  for_each_row(resources::kAccuracy, [&](const std::string& line) {
    std::istringstream row(line);
    std::string name;
    row >> name;
    row >> accuracy[name];
  });
  return accuracy;
}

std::vector<CatalogueModel> read_catalogue() {
  std::vector<CatalogueModel> models;
  const auto accuracy = read_accuracy();
  for (const auto& published : published_checkpoints()) {
    if (published.hub.empty()) continue;
    CatalogueModel model{.name = published.name,
                         .hub = published.hub,
                         .architecture = published.architecture,
                         .image_size = published.recipe.crop_height};
    set_outputs(published.classes, model);
    if (const auto known = accuracy.find(model.name); known != accuracy.end())
      model.top1 = known->second;
    models.push_back(std::move(model));
  }
  for_each_row(resources::kHubModels,
               [&](const std::string& line) { models.push_back(read_row(line)); });
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

ModelConfig config_of(const CatalogueModel& model) {
  const size_t outputs = model.classes + model.embedding;
  ModelConfig config = config_of(model.architecture, {{"num_classes", std::to_string(outputs)}});
  if (model.class_and_mean) config.head.pooling = Pooling::kClassAndMean;
  config.embedding.image_height = config.embedding.image_width = model.image_size;
  return config;
}

size_t parameters_of(const CatalogueModel& model) {
  size_t sum = 0;
  for_each_tensor(config_of(model), [&](const TensorSpec& spec) {
    if (!spec.optional) sum += spec.size();
  });
  return sum;
}

std::string_view family_of(const CatalogueModel& model) {
  for (const auto& family : kFamilies)
    for (const std::string& name : {model.architecture, model.name})
      if (name.find(family.part) != std::string::npos) return family.name;
  return "vit";
}

std::vector<std::string_view> families() {
  std::set<std::string_view> names;
  for (const auto& model : catalogue()) names.insert(family_of(model));
  return {names.begin(), names.end()};
}

}  // namespace vit::weights
