/// The architectures and published checkpoints that timm knows by name, as data.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/recipe.h"

namespace vit::weights {

/// Constructor arguments as text: {"embed_dim", "192"}, {"img_size", "64,96"}, {"fc_norm", "none"}.
using Arguments = std::map<std::string, std::string, std::less<>>;

/// The class of timm that an architecture is built with; each has its own arguments and defaults.
enum class TimmClass {
  kVisionTransformer,
  kDistilled,  ///< VisionTransformerDistilled: a distillation token and a second head
  kEva,        ///< EVA, EVA-02, DINOv3, RoPE-ViT, Perception Encoder
  kBeit,
  kCait,
  kRelPos,  ///< VisionTransformerRelPos
  kNaFlex,  ///< NaFlexVit
};

struct Architecture {
  std::string name;
  TimmClass kind = TimmClass::kVisionTransformer;
  Arguments arguments;    ///< those that differ from timm's defaults
  Recipe recipe;          ///< of its default checkpoint
  size_t classes = 1000;  ///< of its default checkpoint; 0: features only
};

struct PublishedCheckpoint {
  std::string name;          ///< "vit_base_patch16_224.augreg2_in21k_ft_in1k"
  std::string architecture;  ///< the name up to the dot
  std::string hub;           ///< repository on the Hugging Face hub, empty: none
  Recipe recipe;
  size_t classes = 0;
};

std::span<const Architecture> architectures();
std::span<const PublishedCheckpoint> published_checkpoints();

/// Null if there is none of this name. A tag ("….fb_in1k") is ignored.
const Architecture* find_architecture(std::string_view name);

/// The model that timm builds for this architecture with these arguments on top. Throws an Error
/// naming the nearest architectures if there is none of this name; `where` opens the message.
ModelConfig config_of(std::string_view architecture, const Arguments& overrides = {},
                      const std::string& where = "architecture");

/// timm's evaluation transform: resize to size / crop_pct (rounded down), crop the centre.
struct TimmRecipe {
  size_t height = 224;
  size_t width = 224;
  double crop_pct = 0.9;
  std::string crop_mode = "center";  ///< or "squash", "border"
  std::string interpolation = "bicubic";
};
Recipe recipe_of(const TimmRecipe& recipe, const std::string& where);

/// Means and standard deviations by name: "imagenet", "half", "clip", "unit".
void set_statistics(std::string_view name, Recipe& recipe);

}  // namespace vit::weights
