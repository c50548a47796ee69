/// From the names and shapes of a file to the names and shapes of the model.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/recipe.h"
#include "weights/layouts/rules.h"

namespace vit::weights {

/// A family of checkpoints that name their tensors alike.
struct Layout {
  std::string_view name;    ///< for people: "timm", "Hugging Face ViT"
  std::string_view anchor;  ///< the patch kernel's name, which tells the layout
  std::vector<std::string_view> inner_prefixes;
  std::span<const Rule> rules;
  std::span<const Rule> block_rules{};  ///< those of the blocks, where layouts share them
  /// What the tensors do not say.
  float norm_eps = 1e-6f;
  Activation activation = Activation::kGelu;
  /// The usual recipe of its checkpoints, as timm writes it.
  double crop_pct = 0.9;
  std::string crop_mode = "center";
  std::string interpolation = "bicubic";
  std::string_view statistics = "half";
  size_t image_size = 224;  ///< where no table of positions tells it
  /// How its authors' code resamples a table of positions for another input size.
  PositionResampling resampling = PositionResampling::kBilinear;
  /// Where the anchor's name does not tell it from others: whether these are its tensors.
  bool (*applies)(const TensorMap& tensors, const std::string& prefix) = nullptr;
  TensorMap (*prepare)(const TensorMap& tensors) = nullptr;  ///< before the rules
};

/// The known ones, in the order in which they are tried.
std::span<const Layout> layouts();

/// A file's tensors under the model's names.
struct Interpretation {
  const Layout* layout = nullptr;
  WeightMap weights;
  std::vector<std::string> unused;  ///< raw names that no rule knows
};

/// Throws an Error naming the layouts it knows if the file has none of them.
Interpretation interpret(const TensorMap& tensors, const std::string& where);

}  // namespace vit::weights
