/// The vectors of an index: which model makes them from an image, and how.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/model_options.h"
#include "tools/output/json.h"
#include "vit/index/file.h"
#include "vit/model/classifier.h"

namespace vit::tools {

/// A model that makes unit vectors from images. Immutable; any thread may use it, each with its own
/// runner.
class FeatureMaker {
 public:
  /// `which`: "cls", "mean" or "output"; none: the model's usual features. Throws an
  /// Error if the model has no such features.
  FeatureMaker(const ModelSettings& settings, const std::optional<std::string>& which);

  const Classifier& classifier() const { return classifier_; }
  /// Model, recipe and options: what must be equal for vectors to be comparable.
  const Json& description() const { return description_; }
  size_t width() const { return width_; }
  /// Throws an Error if the numbers are NaN, infinite or all zero.
  std::vector<float> vector_of(const patch::Image& image, Runner& runner) const;

 private:
  Classifier classifier_;
  std::string which_;
  size_t width_ = 0;
  Json description_;
};

/// The description in an index. Throws an Error naming the file if it is not one of ours.
Json description_of(const std::filesystem::path& path, const index::Index& index);

/// Throws an Error that lists the differences between the description in the index and the wanted
/// one, if vectors of both cannot be compared. `advice` ends the message.
void check_description(const std::filesystem::path& path, const Json& stored, const Json& wanted,
                       std::string_view advice);

}  // namespace vit::tools
