/// The constructor arguments of timm's classes besides VisionTransformer.
#pragma once

#include "vit/base/config.h"
#include "weights/known/taker.h"

namespace vit::weights {

void take_eva(Taker& take, ModelConfig& config);
void take_beit(Taker& take, ModelConfig& config);
void take_cait(Taker& take, ModelConfig& config);
void take_relative(Taker& take, ModelConfig& config);
void take_naflex(Taker& take, ModelConfig& config);

}  // namespace vit::weights
