/// Models that are small enough to differentiate by hand, one for every kind of part.
#pragma once

#include <string>

#include "tests/support/small_config.h"
#include "vit/base/config.h"

namespace vit::gradient {

/// Six patches, two images, two blocks, 12 wide: small enough to differentiate by hand.
inline ModelConfig tiny() {
  ModelConfig c =
      test::small_config({.grid = {2, 3}, .patch = 2, .width = 12, .depth = 2, .mlp_width = 20});
  c.architecture = "tiny";
  return c;
}

struct Case {
  std::string name;
  void (*change)(ModelConfig& config);
};

inline const Case kCases[] = {
    {"PlainPreNorm", [](ModelConfig&) {}},
    {"LayerScale", [](ModelConfig& c) { c.encoder.layer_scale = true; }},
    {"GeluTanh", [](ModelConfig& c) { c.encoder.activation = Activation::kGeluTanh; }},
    {"QuickGelu", [](ModelConfig& c) { c.encoder.activation = Activation::kQuickGelu; }},
    {"Silu", [](ModelConfig& c) { c.encoder.activation = Activation::kSilu; }},
    {"Relu", [](ModelConfig& c) { c.encoder.activation = Activation::kRelu; }},
    {"GatedMlp",
     [](ModelConfig& c) {
       c.encoder.gated_mlp = true;
       c.encoder.activation = Activation::kSilu;
     }},
    {"RmsNorm", [](ModelConfig& c) { c.encoder.norm = NormKind::kRmsNorm; }},
    {"QueryKeyNorm", [](ModelConfig& c) { c.encoder.qk_norm = true; }},
    {"InnerNorms", [](ModelConfig& c) { c.encoder.attention_norm = c.encoder.mlp_norm = true; }},
    {"GroupedQueries",
     [](ModelConfig& c) {
       c.encoder.heads = 6;
       c.encoder.key_value_heads = 2;
     }},
    {"NoBiases",
     [](ModelConfig& c) {
       c.encoder.qkv_bias = c.encoder.projection_bias = c.encoder.mlp_bias =
           c.embedding.patch_bias = c.head.head_bias = false;
     }},
    {"PostNorm",
     [](ModelConfig& c) {
       c.encoder.block = BlockKind::kPostNorm;
       c.encoder.layer_scale = true;
     }},
    {"ResidualPostNorm",
     [](ModelConfig& c) {
       c.encoder.block = BlockKind::kResidualPostNorm;
       c.encoder.layer_scale = true;
     }},
    {"ParallelBlocks",
     [](ModelConfig& c) {
       c.encoder.block = BlockKind::kParallel;
       c.encoder.layer_scale = true;
     }},
    {"TwoBranches",
     [](ModelConfig& c) {
       c.encoder.branches = 2;
       c.encoder.layer_scale = true;
     }},
    {"MeanPooling",
     [](ModelConfig& c) {
       c.embedding.prefix = {};
       c.head.pooling = Pooling::kMean;
       c.head.final_norm = false;
       c.head.pooled_norm = true;
     }},
    {"MaxPooling", [](ModelConfig& c) { c.head.pooling = Pooling::kMax; }},
    {"MeanMaxPooling",
     [](ModelConfig& c) {
       c.head.pooling = Pooling::kMeanMax;
       c.head.pool_prefix = true;
     }},
    {"ClassAndMeanPooling", [](ModelConfig& c) { c.head.pooling = Pooling::kClassAndMean; }},
    {"LastTwoOfThreeLayers",
     [](ModelConfig& c) {
       c.encoder.depth = 3;
       c.head.pooling = Pooling::kClassAndMean;
       c.head.pooled_layers = 2;
     }},
    {"AllLayersWithTheirNorm",
     [](ModelConfig& c) {
       c.embedding.prefix = {};
       c.head.pooling = Pooling::kMeanMax;
       c.head.final_norm = false;
       c.head.pooled_norm = true;
       c.head.pooled_layers = 2;
     }},
    {"LastLayersOfTwoBranches",
     [](ModelConfig& c) {
       c.encoder.branches = 2;
       c.head.unit_features = true;
       c.head.pooled_layers = 2;
     }},
    {"LastLayersOfParallelBlocks",
     [](ModelConfig& c) {
       c.encoder.block = BlockKind::kParallel;
       c.head.pooling = Pooling::kMax;
       c.head.pooled_layers = 2;
     }},
    {"AttentionPooling", [](ModelConfig& c) { c.head.pooling = Pooling::kAttention; }},
    {"RegistersAndNoPrefixPositions",
     [](ModelConfig& c) {
       c.embedding.prefix = {PrefixToken::kClass, PrefixToken::kRegister, PrefixToken::kRegister};
       c.embedding.positions_cover_prefix = false;
     }},
    {"Distilled",
     [](ModelConfig& c) {
       c.embedding.prefix = {PrefixToken::kClass, PrefixToken::kDistillation};
       c.head.distilled_head = true;
     }},
    {"PreLogits", [](ModelConfig& c) { c.head.pre_logits = 9; }},
    {"UnitFeatures", [](ModelConfig& c) { c.head.unit_features = true; }},
    {"ProjectionToUnitFeatures",
     [](ModelConfig& c) {
       c.head.pre_logits = 9;
       c.head.pre_logits_tanh = c.head.pre_logits_bias = false;
       c.head.unit_features = true;
     }},
    {"NoClassifier", [](ModelConfig& c) { c.head.classes = 0; }},
    {"NormOnPatchesAndOnAllTokens",
     [](ModelConfig& c) { c.embedding.patch_norm = c.embedding.norm_before_blocks = true; }},
    {"SinusoidalPositions1d",
     [](ModelConfig& c) { c.embedding.positions = PositionKind::kSinusoidal1d; }},
    {"SinusoidalPositions2d",
     [](ModelConfig& c) { c.embedding.positions = PositionKind::kSinusoidal2d; }},
    {"QueryAndValueBias", [](ModelConfig& c) { c.encoder.key_bias = false; }},
    {"AxialRotary",
     [](ModelConfig& c) {
       c.encoder.rotary = {
           .kind = RotaryKind::kAxial, .temperature = 10.0f, .offset = 1.0f, .reference = {4, 4}};
     }},
    {"NormalizedRotaryOfHalves",
     [](ModelConfig& c) {
       c.encoder.rotary = {
           .kind = RotaryKind::kNormalized, .temperature = 10.0f, .split_halves = true};
       c.encoder.qk_norm = true;
     }},
    {"LearnedRotary",
     [](ModelConfig& c) {
       c.encoder.rotary = {.kind = RotaryKind::kLearned, .columns_first = true};
     }},
    {"RelativeTable",
     [](ModelConfig& c) {
       c.encoder.relative_bias = {
           .kind = RelativeBiasKind::kTable, .shared = true, .class_rows = true, .grid = {2, 3}};
     }},
    {"RelativeTableWithoutClassToken",
     [](ModelConfig& c) {
       c.embedding.prefix.clear();
       c.head.pooling = Pooling::kMean;
       c.encoder.relative_bias = {.kind = RelativeBiasKind::kTable, .grid = {2, 3}};
     }},
    {"RelativeLogMlp",
     [](ModelConfig& c) {
       c.encoder.relative_bias = {.kind = RelativeBiasKind::kLogMlp, .hidden = 7};
     }},
    {"RelativeSwinMlpShared",
     [](ModelConfig& c) {
       c.encoder.relative_bias = {.kind = RelativeBiasKind::kSwinMlp,
                                  .per_block = false,
                                  .shared = true,
                                  .hidden = 7,
                                  .grid = {2, 3}};
     }},
    {"TalkingHeads", [](ModelConfig& c) { c.encoder.attention = AttentionKind::kTalkingHeads; }},
    {"TalkingHeadsWithNorms",
     [](ModelConfig& c) {
       c.encoder.attention = AttentionKind::kTalkingHeads;
       c.encoder.qk_norm = c.encoder.attention_norm = true;
     }},
    {"ClassLayers",
     [](ModelConfig& c) {
       c.embedding.prefix.clear();
       c.encoder.layer_scale = true;
       c.head.class_layers = 2;
       c.head.class_mlp_width = 10;
     }},
    {"ClassLayersWithoutLayerScaleAndBias",
     [](ModelConfig& c) {
       c.embedding.prefix.clear();
       c.encoder.qkv_bias = false;
       c.encoder.attention = AttentionKind::kTalkingHeads;
       c.head.class_layers = 1;
       c.head.class_mlp_width = 10;
     }},
    {"AttentionPoolOfItsOwnHeadsOverAllTokens",
     [](ModelConfig& c) {
       c.head.pooling = Pooling::kAttention;
       c.head.pool_prefix = true;
       c.head.pool_heads = 2;
       c.head.pool_mlp_width = 10;
     }},
};

}  // namespace vit::gradient
