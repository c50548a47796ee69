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

/// Whose code a layout is of, where more follows from that than names.
enum class LayoutFamily {
  kOther,
  kTimm,         ///< its plain models; those of NaFlex are not
  kHuggingFace,  ///< a config.json beside the file has the labels, if they are known at all
  kPerception,
};

/// A family of checkpoints that name their tensors alike.
struct Layout {
  std::string_view name;    ///< for people alone: "timm", "Hugging Face ViT"
  std::string_view anchor;  ///< the patch kernel's name, which tells the layout
  std::vector<std::string_view> inner_prefixes;
  std::span<const Rule> rules;
  std::span<const Rule> block_rules{};  ///< those of the blocks, where layouts share them
  LayoutFamily family = LayoutFamily::kOther;
  bool named_after_architecture = false;  ///< whether files are called as timm calls their models
  /// Whether models of several authors have these names; the config tells some of them apart.
  bool shared_names = false;
  /// Whether a model may rotate its positions without a trace in its tensors.
  bool rotation_invisible = false;
  /// What the tensors do not say.
  float norm_eps = 1e-6f;
  std::optional<float> layer_scale_eps{};  ///< of the models among them with layer scale
  Activation activation = Activation::kGelu;
  /// The usual recipe of its checkpoints, as timm writes it.
  double crop_pct = 0.9;
  std::string crop_mode = "center";
  std::string interpolation = "bicubic";
  std::string_view statistics = "half";
  RotaryConfig rotary{};    ///< where the tensors hold no angles
  size_t head_width = 0;    ///< where nothing in a file tells it; 0: known models of its size do
  size_t image_size = 224;  ///< where no table of positions tells it
  bool resamples_table = false;  ///< to any input: it does not tell the size
  /// How its authors' code resamples a table of positions for another input size.
  PositionResampling resampling = PositionResampling::kBilinear;
  /// Where the anchor's name does not tell it from others: whether these are its tensors.
  bool (*applies)(const TensorMap& tensors, const std::string& prefix) = nullptr;
  /// Before the rules; `where` opens messages.
  TensorMap (*prepare)(const TensorMap& tensors, const std::string& where) = nullptr;
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
