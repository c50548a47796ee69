/// Features as cosines compare them.
#pragma once

#include <cmath>
#include <span>

namespace vit {

/// Divided by its length, which is summed in double. All zeros stay so.
inline void scale_to_unit(std::span<float> features) {
  double squares = 0.0;
  for (const float x : features) squares += double{x} * double{x};
  if (!(squares > 0.0)) return;
  const double length = std::sqrt(squares);
  for (float& x : features) x = static_cast<float>(x / length);
}

}  // namespace vit
