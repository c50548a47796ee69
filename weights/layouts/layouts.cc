#include <array>

#include "weights/layouts/tables.h"

namespace vit::weights {

/// Those that look for more than the patch kernel's name come before those that share the name.
std::span<const Layout> layouts() {
  static const std::array kLayouts{
      hugging_face_beit_layout(),
      hugging_face_dinov3_layout(),
      hugging_face_layout(),
      hugging_face_clip_layout(),
      perception_layout(),
      openai_clip_layout(),
      gguf_clip_layout(),
      torchvision_layout(),
      jax_layout(),
      dinov3_layout(),
      eva_layout(),
      rope_layout(),
      naflex_layout(),
      conv_stem_layout(),
      timm_layout(),
  };
  return kLayouts;
}

}  // namespace vit::weights
