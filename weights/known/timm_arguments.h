/// timm's constructor arguments, given as text, to what they mean.
#pragma once

#include <string>
#include <string_view>

#include "vit/base/config.h"
#include "vit/base/recipe.h"
#include "weights/known/architectures.h"

namespace vit::weights {

/// What a class of timm is with these arguments. Arguments that only matter to training are passed
/// over; one that changes the model and is not known is an Error that `where` opens.
ModelConfig config_from_arguments(const Arguments& arguments, TimmClass kind,
                                  const std::string& where);

Interpolation interpolation_named(std::string_view name, const std::string& where);

/// "gelu", "quick_gelu", "gelu_tanh", "gelu_pytorch_tanh", "silu", "relu", …
Activation activation_named(std::string_view name, const std::string& where);

}  // namespace vit::weights
