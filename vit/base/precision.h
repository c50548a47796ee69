/// The arithmetic of a model's linear layers.
#pragma once

namespace vit {

enum class Precision { kF32, kInt8 };

}  // namespace vit
