#include "tools/indexed/features.h"

#include "tools/output/json_depth.h"
#include "tools/rows/header.h"
#include "vit/base/error.h"
#include "vit/model/features.h"

namespace vit::tools {
namespace {

constexpr const char* kOutput = "output";

/// Models without classes are compared by their output, which two-tower models share with texts.
/// The output of a classifier is its classes, so for those it is the class token or the mean.
std::string usual_name(const ModelConfig& config) {
  const FeatureKind kind = usual_features(config);
  return kind == FeatureKind::kPooled ? kOutput : std::string(to_string(kind));
}

FeatureKind kind_of(const std::string& which) {
  return which == "cls" ? FeatureKind::kClass : FeatureKind::kMean;
}

}  // namespace

FeatureMaker::FeatureMaker(const ModelSettings& settings, const std::optional<std::string>& which)
    : classifier_(load_classifier(settings)),
      which_(which ? *which : usual_name(classifier_.config())) {
  const ModelConfig& config = classifier_.config();
  if (which_ == kOutput) {
    width_ = config.outputs();
  } else {
    check_features(config, kind_of(which_));
    width_ = feature_count(config, kind_of(which_));
  }
  Json options;
  options["features"] = which_;
  description_ = make_header("index", settings, classifier_, options);
  description_["model_path"] =
      std::filesystem::absolute(classifier_.path()).lexically_normal().string();
}

std::vector<float> FeatureMaker::vector_of(const patch::Image& image, Runner& runner) const {
  std::vector<float> vector;
  if (which_ == kOutput) {
    const auto outputs = runner.logits(image);
    vector.assign(outputs.begin(), outputs.end());
  } else {
    vector = runner.features(image, kind_of(which_));
  }
  check_answer(vector);
  if (!index::normalize(vector)) fail("the model's features of this image are all zero");
  return vector;
}

Json description_of(const std::filesystem::path& path, const index::Index& index) {
  const std::string& text = index.format.description;
  Json description = nests_deep(text) ? Json() : Json::parse(text, nullptr, false);
  const auto is_text = [&](const char* key) {
    return description.contains(key) && description[key].is_string();
  };
  if (!description.is_object() || !is_text("model") || !is_text("model_sha256"))
    fail_at(path.string(), "does not say which model made it, so nothing can be compared with it; ",
            "make it again with vit index --restart");
  return description;
}

void check_description(const std::filesystem::path& path, const Json& stored, const Json& wanted,
                       std::string_view advice) {
  const auto comparable = [](const Json& description) {
    Json part;
    for (const auto* key : {"model", "model_sha256", "recipe", "options"})
      if (description.contains(key)) part[key] = description[key];
    // Both go through text, so that equal numbers are rounded in the same way.
    return Json::parse(dump(part), nullptr, false);
  };
  auto lines = differences(comparable(stored), comparable(wanted));
  // The same model under another name.
  if (lines.size() == 1 && lines.front().starts_with("model is ")) return;
  if (lines.empty()) return;
  std::string text;
  for (const auto& line : lines) text += "\n  " + line;
  fail_at(path.string(), "was made with another model or other options:", text, "\n", advice);
}

}  // namespace vit::tools
