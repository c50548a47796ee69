/// The layouts, each a table in a file of its own.
#pragma once

#include "weights/layouts/layout.h"

namespace vit::weights {

/// The blocks of OpenAI's and OpenCLIP's image and text towers.
inline constexpr Rule kOpenAiBlockRules[] = {
    {"transformer.resblocks.#.ln_1.*", "blocks.#.norm1.*"},
    {"transformer.resblocks.#.attn.in_proj_weight", "blocks.#.attn.qkv.weight"},
    {"transformer.resblocks.#.attn.in_proj_bias", "blocks.#.attn.qkv.bias"},
    {"transformer.resblocks.#.attn.out_proj.*", "blocks.#.attn.proj.*"},
    {"transformer.resblocks.#.ls_1.gamma", "blocks.#.ls1.gamma"},
    {"transformer.resblocks.#.ln_2.*", "blocks.#.norm2.*"},
    {"transformer.resblocks.#.mlp.c_fc.*", "blocks.#.mlp.fc1.*"},
    {"transformer.resblocks.#.mlp.c_proj.*", "blocks.#.mlp.fc2.*"},
    {"transformer.resblocks.#.ls_2.gamma", "blocks.#.ls2.gamma"},
};

/// The blocks of both towers of CLIP and SigLIP of transformers.
inline constexpr Rule kHuggingFaceClipBlockRules[] = {
    {"encoder.layers.#.layer_norm1.*", "blocks.#.norm1.*"},
    {"encoder.layers.#.self_attn.q_proj.*", "blocks.#.attn.qkv.*", nullptr, 0},
    {"encoder.layers.#.self_attn.k_proj.*", "blocks.#.attn.qkv.*", nullptr, 1},
    {"encoder.layers.#.self_attn.v_proj.*", "blocks.#.attn.qkv.*", nullptr, 2},
    {"encoder.layers.#.self_attn.out_proj.*", "blocks.#.attn.proj.*"},
    {"encoder.layers.#.layer_norm2.*", "blocks.#.norm2.*"},
    {"encoder.layers.#.mlp.*", "blocks.#.mlp.*"},
};

/// DINOv3's, where its file holds no periods; those in a file are of the same kind.
inline constexpr RotaryConfig kDinov3Rotary{
    .kind = RotaryKind::kNormalized, .temperature = 100.0f, .split_halves = true};

/// timm, and the originals it took over: DeiT, DeiT-III, DINO, DINOv2, OpenCLIP's timm towers.
Layout timm_layout();
/// The same behind convolutions inside each patch: MobileCLIP-B.
Layout conv_stem_layout();
/// timm's NaFlexVit: the same blocks behind another embedding.
Layout naflex_layout();
/// ViT, DeiT and DINOv2 of transformers, old and new names.
Layout hugging_face_layout();
/// BEiT and data2vec-vision of transformers, old and new names.
Layout hugging_face_beit_layout();
/// DINOv3 of transformers.
Layout hugging_face_dinov3_layout();
/// The files of the authors of DINOv3, EVA-02, RoPE-ViT and Perception Encoder.
Layout dinov3_layout();
Layout eva_layout();
Layout rope_layout();
Layout perception_layout();
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
