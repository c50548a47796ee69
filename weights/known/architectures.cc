#include "weights/known/architectures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>
#include <utility>

#include "vit/base/error.h"
#include "weights/known/resources.h"
#include "weights/known/similar.h"
#include "weights/known/timm_arguments.h"
#include "weights/known/unsupported.h"

namespace vit::weights {
namespace {

constexpr size_t kSuggestions = 3;
constexpr double kSmallestCrop = 0.01;

struct Statistics {
  std::string_view name;
  std::array<float, 3> mean;
  std::array<float, 3> std;
};

constexpr Statistics kStatistics[] = {
    {"imagenet", {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}},
    {"half", {0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
    {"clip", {0.48145466f, 0.4578275f, 0.40821073f}, {0.26862954f, 0.26130258f, 0.27577711f}},
    {"unit", {0.0f, 0.0f, 0.0f}, {1.0f, 1.0f, 1.0f}},
    {"satellite", {0.430f, 0.411f, 0.296f}, {0.213f, 0.156f, 0.143f}},
};

struct RecipeRow {
  Recipe recipe;
  size_t classes;
};

/// "224 0.9 center bicubic half 1000"
RecipeRow read_recipe(std::istringstream& row) {
  TimmRecipe timm;
  std::string statistics;
  size_t classes = 0;
  row >> timm.height >> timm.crop_pct >> timm.crop_mode >> timm.interpolation >> statistics >>
      classes;
  timm.width = timm.height;
  RecipeRow result{recipe_of(timm, "recipe table"), classes};
  set_statistics(statistics, result.recipe);
  return result;
}

template <typename Row>
std::vector<Row> read_table(std::string_view text, Row (*read_row)(std::istringstream& row)) {
  std::vector<Row> rows;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream row(line);
    rows.push_back(read_row(row));
  }
  return rows;
}

TimmClass class_named(std::string_view word) {
  constexpr std::pair<std::string_view, TimmClass> kClasses[] = {
      {"distilled", TimmClass::kDistilled}, {"eva", TimmClass::kEva},
      {"beit", TimmClass::kBeit},           {"cait", TimmClass::kCait},
      {"relpos", TimmClass::kRelPos},       {"naflex", TimmClass::kNaFlex},
  };
  for (const auto& [name, kind] : kClasses)
    if (name == word) return kind;
  fail("architecture table: unknown class '", word, "'");
}

Architecture read_architecture(std::istringstream& row) {
  Architecture result;
  row >> result.name;
  const RecipeRow recipe = read_recipe(row);
  result.recipe = recipe.recipe;
  result.classes = recipe.classes;
  std::string word;
  row >> word;  // the bar
  while (row >> word) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos)
      result.kind = class_named(word);
    else
      result.arguments.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  return result;
}

PublishedCheckpoint read_checkpoint(std::istringstream& row) {
  PublishedCheckpoint result;
  row >> result.name >> result.hub;
  if (result.hub == "=") result.hub = "timm/" + result.name;
  if (result.hub == "-") result.hub.clear();
  result.architecture = result.name.substr(0, result.name.find('.'));
  const RecipeRow recipe = read_recipe(row);
  result.recipe = recipe.recipe;
  result.classes = recipe.classes;
  return result;
}

std::string nearest(std::string_view name) {
  name = name.substr(0, 100);
  std::vector<std::pair<NameDistance, std::string_view>> ranked;
  for (const auto& known : architectures())
    ranked.emplace_back(name_distance(name, known.name), known.name);
  std::sort(ranked.begin(), ranked.end());
  std::string text;
  for (size_t i = 0; i < kSuggestions; ++i)
    text += (i == 0 ? "" : ", ") + std::string(ranked[i].second);
  return text;
}

}  // namespace

std::span<const Architecture> architectures() {
  static const auto kTable = read_table(resources::kArchitectures, read_architecture);
  return kTable;
}

std::span<const PublishedCheckpoint> published_checkpoints() {
  static const auto kTable = read_table(resources::kCheckpoints, read_checkpoint);
  return kTable;
}

const Architecture* find_architecture(std::string_view name) {
  name = name.substr(0, name.find('.'));
  for (const auto& known : architectures())
    if (known.name == name) return &known;
  return nullptr;
}

ModelConfig config_of(std::string_view architecture, const Arguments& overrides,
                      const std::string& where) {
  const Architecture* known = find_architecture(architecture);
  if (known == nullptr) {
    if (const auto* family = unsupported_architecture(architecture))
      fail_at(where, "'", architecture, "' is ", description_of(*family));
    fail_at(where, "unknown architecture '", architecture, "', the nearest known are ",
            nearest(architecture));
  }
  Arguments arguments = known->arguments;
  arguments.try_emplace("num_classes", std::to_string(known->classes));
  arguments.try_emplace("img_size", std::to_string(known->recipe.crop_height));
  for (const auto& [name, value] : overrides) arguments[name] = value;
  ModelConfig config = config_from_arguments(arguments, known->kind, where);
  config.architecture = architecture;
  return config;
}

Recipe recipe_of(const TimmRecipe& timm, const std::string& where) {
  if (!(timm.crop_pct >= kSmallestCrop && timm.crop_pct <= 1.0 / kSmallestCrop))
    fail_at(where, "crop_pct ", timm.crop_pct, " is not a fraction of the image");
  Recipe recipe;
  recipe.crop_height = timm.height;
  recipe.crop_width = timm.width;
  recipe.crop_fraction = timm.crop_pct;
  const auto enlarged = [&](size_t size) {
    return static_cast<size_t>(std::floor(static_cast<double>(size) / timm.crop_pct));
  };
  recipe.resize_height = enlarged(timm.height);
  recipe.resize_width = enlarged(timm.width);

  if (timm.crop_mode == "center")
    recipe.resize = ResizeMode::kShortEdge;
  else if (timm.crop_mode == "squash")
    recipe.resize = ResizeMode::kSquash;
  else if (timm.crop_mode == "border")
    recipe.resize = ResizeMode::kBorder;
  else
    fail_at(where, "unknown crop_mode '", timm.crop_mode, "', expected center, squash or border");
  recipe.interpolation = interpolation_named(timm.interpolation, where);
  return recipe;
}

void set_statistics(std::string_view name, Recipe& recipe) {
  for (const auto& known : kStatistics) {
    if (known.name != name) continue;
    recipe.mean = known.mean;
    recipe.std = known.std;
  }
}

}  // namespace vit::weights
