#include <array>

#include "weights/layouts/tables.h"

namespace vit::weights {

std::span<const Layout> layouts() {
  static const std::array kLayouts{hugging_face_layout(), hugging_face_clip_layout(),
                                   openai_clip_layout(),  gguf_clip_layout(),
                                   torchvision_layout(),  jax_layout(),
                                   timm_layout()};
  return kLayouts;
}

}  // namespace vit::weights
