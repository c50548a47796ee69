#include "weights/known/unsupported.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace vit::weights {
namespace {

constexpr std::string_view kSmall = "deit3_small_patch16_224.fb_in22k_ft_in1k";
constexpr std::string_view kBase = "deit3_base_patch16_224.fb_in22k_ft_in1k";
constexpr std::string_view kTiny = "deit_tiny_distilled_patch16_224.fb_in1k";
constexpr std::string_view kHybrid = "vit_small_patch16_224.augreg_in21k_ft_in1k";

constexpr UnsupportedFamily kUnsupported[] = {
    {"a Swin Transformer", "attention in shifted windows, patches merged between stages", kBase,
     "^swin", "swin swinv2 swin2sr donut-swin",
     "layers.0.blocks.0.attn.relative_position_bias_table layers.0.blocks.0.attn.cpb_mlp. "
     "layers.0.blocks.0.attn.logit_scale swin.encoder.layers. swinv2.encoder.layers. "
     "features.1.0.attn."},
    {"a hybrid of a ResNet and a Vision Transformer", "patches from a convolutional network",
     kHybrid, "_r26_ _r50_ _r_s16_ _resnet26d_ _resnet50d_", "vit-hybrid bit",
     "patch_embed.backbone.stem. patch_embed.backbone.stages. patch_embed.backbone.conv "
     "patch_embed.backbone.layer patch_embeddings.backbone."},
    {"a ConvNeXt", "convolutions instead of attention", kBase, "^convnext",
     "convnext convnextv2 dinov3_convnext",
     ".conv_dw. stages.0.0.dwconv. convnext.encoder. convnextv2.encoder. "
     "layers.0.depthwise_conv. features.1.0.layer_scale"},
    {"Segment Anything's encoder", "attention in windows with decomposed relative positions",
     "vit_base_patch16_224.mae", "^samvit ^hieradet", "sam sam2 sam_vision_model",
     "attn.rel_pos_h"},
    {"a Hiera", "attention in mask units, tokens pooled between stages", "vit_base_patch16_224.mae",
     "^hiera", "hiera", "pos_embed_win pos_embed_spatial hiera. blocks.1.proj. blocks.2.proj."},
    {"a multiscale Vision Transformer (MViT)", "queries and keys pooled inside the attention",
     kBase, "^mvit", "", "attn.pool_q attn.pool_k attn.norm_k."},
    {"a MaxViT or CoAtNet", "convolutions and attention in blocks and grids", kBase,
     "^maxvit ^maxxvit ^coatnet ^coatnext ^rmlp_", "", "attn_block. MBconv. conv2_kxk.weight"},
    {"a Pyramid Vision Transformer (PVT)", "keys and values of lower resolution", kSmall,
     "^pvt ^twins", "pvt pvt_v2 segformer", "patch_embed1.proj. attn.sr. attention.self.sr."},
    {"an XCiT", "attention between channels instead of tokens", kSmall, "^xcit", "",
     "local_mp.conv1."},
    {"a LeViT or TinyViT", "convolutional stages and attention biases per offset", kTiny,
     "^levit ^tiny_vit ^efficientformer ^efficientvit", "levit efficientformer",
     "attention_biases"},
    {"a MobileViT", "convolutions between the blocks of a transformer", kTiny, "^mobilevit",
     "mobilevit mobilevitv2", "mobilevit. .transformer.0.attn.qkv."},
    {"an EfficientNet or MobileNet", "convolutions instead of attention", kTiny,
     "^efficientnet ^tf_efficientnet ^mobilenet ^tf_mobilenet ^mnasnet", "efficientnet",
     "conv_stem.weight efficientnet.encoder. features.1.0.block.0.0. features.1.block.0.0."},
    {"a ResNet", "convolutions instead of attention", kSmall,
     "^resnet ^resnext ^seresn ^wide_resnet ^resnetv2 ^ecaresnet ^regnet ^densenet ^vgg",
     "resnet regnet",
     "layer1.0.conv1.weight stages.0.blocks.0.conv1. s1.b1.conv1. trunk_output.block1. "
     "resnet.encoder. regnet.encoder."},
    {"an MLP-Mixer", "an MLP over the tokens instead of attention",
     "vit_base_patch16_224.augreg_in21k_ft_in1k", "^mixer ^gmixer ^resmlp ^gmlp", "",
     "mlp_tokens.fc1. linear_tokens."},
    {"a Transformer in Transformer (TNT)", "a small transformer inside each patch", kSmall, "^tnt_",
     "", "pixel_embed.proj."},
    {"a ConViT", "gates between attention by content and by position", kSmall, "^convit", "",
     "attn.gating_param"},
    {"a CrossViT", "two branches with patches of different sizes", kSmall, "^crossvit", "",
     "blocks.0.fusion."},
    {"a hierarchical transformer", "stages of different resolution", kSmall,
     "^davit ^gcvit ^nest_ ^focalnet ^poolformer ^caformer ^convformer ^coat_ ^pit_ ^visformer "
     "^volo_ ^edgenext ^fastvit ^nextvit ^repvit ^vitamin",
     "cvt focalnet poolformer dinat nat",
     "transformers.0.blocks.0. .cpe1.proj. .token_mixer. network.0.0.attn."},
    {"SigLIP 2's NaFlex model under transformers' names", "patches projected from rows of pixels",
     "naflexvit_base_patch16_siglip.v2_webli", "", "siglip2 siglip2_vision_model", ""},
    {"an object detector", "boxes and a decoder instead of one class per image",
     "vit_base_patch16_224.augreg_in21k_ft_in1k", "",
     "yolos detr deformable_detr conditional_detr rt_detr owlvit owlv2 grounding-dino",
     "embeddings.detection_tokens"},
};

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

}  // namespace

const UnsupportedFamily* unsupported_architecture(std::string_view timm_name) {
  for (const auto& family : kUnsupported)
    for (const auto& part : words(family.timm)) {
      const bool begins = part.front() == '^';
      const bool found = begins ? timm_name.starts_with(std::string_view(part).substr(1))
                                : timm_name.find(part) != std::string_view::npos;
      if (found) return &family;
    }
  return nullptr;
}

const UnsupportedFamily* unsupported_model_type(std::string_view model_type) {
  for (const auto& family : kUnsupported)
    if (std::ranges::count(words(family.types), model_type) != 0) return &family;
  return nullptr;
}

const UnsupportedFamily* unsupported_tensors(std::span<const std::string_view> names) {
  for (const auto& family : kUnsupported)
    for (const auto& part : words(family.tensors))
      for (const auto name : names)
        if (name.find(part) != std::string_view::npos) return &family;
  return nullptr;
}

std::string unsupported_name(std::string_view name) {
  constexpr std::string_view kTimm = "timm/";
  if (name.starts_with(kTimm)) name.remove_prefix(kTimm.size());
  if (name.find('/') != std::string_view::npos) return "";
  const auto* family = unsupported_architecture(name);
  return family == nullptr ? "" : description_of(*family);
}

std::string description_of(const UnsupportedFamily& family) {
  return std::string(family.name) + " (" + std::string(family.differs) +
         "), which is not supported; a supported model close to it is " +
         std::string(family.instead);
}

}  // namespace vit::weights
