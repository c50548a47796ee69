/// The layouts, each a table in a file of its own.
#pragma once

#include "weights/layouts/layout.h"

namespace vit::weights {

/// timm, and the originals it took over: DeiT, DeiT-III, DINO, DINOv2, OpenCLIP's timm towers.
Layout timm_layout();
/// ViT, DeiT and DINOv2 of transformers, old and new names.
Layout hugging_face_layout();
/// CLIP and SigLIP of transformers, the image tower.
Layout hugging_face_clip_layout();
/// OpenAI's and OpenCLIP's own names.
Layout openai_clip_layout();
/// clip.cpp and llama.cpp.
Layout gguf_clip_layout();
Layout torchvision_layout();
/// Google's ViT and big_vision: arrays with '/' in their names and the outputs last.
Layout jax_layout();

}  // namespace vit::weights
