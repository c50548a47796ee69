#include <array>

#include "weights/layouts/tables.h"

namespace vit::weights {

std::span<const Layout> layouts() {
  static const std::array kLayouts{hugging_face_layout(), timm_layout()};
  return kLayouts;
}

}  // namespace vit::weights
