/// The models that can be fetched by a short name: timm's published checkpoints and the well-known
/// repositories of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/config.h"

namespace vit::weights {

using std::size_t;

struct CatalogueModel {
  std::string name;  ///< "deit_tiny_patch16_224.fb_in1k", "vit-base-patch16-224"
  std::string hub;   ///< "timm/deit_tiny_patch16_224.fb_in1k", "google/vit-base-patch16-224"
  std::string architecture;  ///< by timm's name
  size_t image_size = 0;
  size_t classes = 0;            ///< 0: no classifier
  size_t embedding = 0;          ///< width of the space shared with a text tower, 0: none
  bool class_and_mean = false;   ///< the classifier reads both, as DINOv2's
  std::optional<double> top1{};  ///< published, on ImageNet-1k, in percent
};

/// Ordered by name.
std::span<const CatalogueModel> catalogue();

/// Those that a name may mean: the model or the repository of that name, else all of the
/// architecture of that name. Empty: unknown.
std::vector<CatalogueModel> find_in_catalogue(std::string_view name);

/// What such a model is, at the size of its images.
ModelConfig config_of(const CatalogueModel& model);

/// Numbers in all weights of such a model together.
size_t parameters_of(const CatalogueModel& model);

/// "deit3", "dinov2", "clip", …; "vit" for those without a name of their own.
std::string_view family_of(const CatalogueModel& model);

/// All families that the catalogue has, ordered by name.
std::vector<std::string_view> families();

}  // namespace vit::weights
