/// The arithmetic of a model's linear layers.
#pragma once

#include "vit/base/enum_names.h"

namespace vit {

enum class Precision { kF32, kInt8 };
constexpr auto enum_names(Precision) {
  using enum Precision;
  return std::to_array<EnumName<Precision>>({{kF32, "f32"}, {kInt8, "int8"}});
}

}  // namespace vit
