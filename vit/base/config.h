/// Everything that differs between one Vision Transformer and the next, as plain data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/enum_names.h"
#include "vit/base/error.h"

namespace vit {

using std::size_t;

enum class Activation { kNone, kGelu, kGeluTanh, kQuickGelu, kRelu, kSilu };
constexpr auto enum_names(Activation) {
  using enum Activation;
  return std::to_array<EnumName<Activation>>({{kNone, "none"},
                                              {kGelu, "gelu"},
                                              {kGeluTanh, "gelu_tanh"},
                                              {kQuickGelu, "quick_gelu"},
                                              {kRelu, "relu"},
                                              {kSilu, "silu"}});
}
enum class NormKind { kLayerNorm, kRmsNorm };
constexpr auto enum_names(NormKind) {
  using enum NormKind;
  return std::to_array<EnumName<NormKind>>({{kLayerNorm, "layer_norm"}, {kRmsNorm, "rms_norm"}});
}

/// Tokens in front of the patches, in the order of the checkpoint.
enum class PrefixToken { kClass, kDistillation, kRegister };
constexpr auto enum_names(PrefixToken) {
  using enum PrefixToken;
  return std::to_array<EnumName<PrefixToken>>(
      {{kClass, "class"}, {kDistillation, "distillation"}, {kRegister, "register"}});
}

enum class PositionKind {
  kNone,
  kLearned,
  kSinusoidal1d,
  kSinusoidal2d,
  kFactorized,  ///< a learned row for each row of the grid plus one for each column (NaFlex)
};
constexpr auto enum_names(PositionKind) {
  using enum PositionKind;
  return std::to_array<EnumName<PositionKind>>({{kNone, "none"},
                                                {kLearned, "learned"},
                                                {kSinusoidal1d, "sinusoidal-1d"},
                                                {kSinusoidal2d, "sinusoidal-2d"},
                                                {kFactorized, "factorized"}});
}

/// How a learned position grid is resampled for another resolution.
enum class PositionResampling {
  kBilinear,
  kBilinearAlignCorners,
  kBicubic,
  kBicubicAntialias,
  kBilinearAntialias,
};
constexpr auto enum_names(PositionResampling) {
  using enum PositionResampling;
  return std::to_array<EnumName<PositionResampling>>(
      {{kBilinear, "bilinear"},
       {kBilinearAlignCorners, "bilinear-align-corners"},
       {kBicubic, "bicubic"},
       {kBicubicAntialias, "bicubic-antialias"},
       {kBilinearAntialias, "bilinear-antialias"}});
}

enum class BlockKind {
  kPreNorm,           ///< x += f(norm(x)): ViT, DeiT, DINO, CLIP. Several branches are summed.
  kPostNorm,          ///< x = norm(x + f(x)): the original Transformer
  kResidualPostNorm,  ///< x += norm(f(x)): timm's `rpn`
  kParallel,          ///< x += attention(n) + mlp(n), n = norm(x): ViT-22B, timm's `xp`
};
constexpr auto enum_names(BlockKind) {
  using enum BlockKind;
  return std::to_array<EnumName<BlockKind>>({{kPreNorm, "pre-norm"},
                                             {kPostNorm, "post-norm"},
                                             {kResidualPostNorm, "residual-post-norm"},
                                             {kParallel, "parallel"}});
}

enum class AttentionKind {
  kStandard,
  kDifferential,  ///< softmax(q1·k1) - lambda · softmax(q2·k2)
  kTalkingHeads,  ///< heads are mixed linearly before and after the softmax (CaiT)
};
constexpr auto enum_names(AttentionKind) {
  using enum AttentionKind;
  return std::to_array<EnumName<AttentionKind>>(
      {{kStandard, "standard"}, {kDifferential, "differential"}, {kTalkingHeads, "talking-heads"}});
}

/// Where the angles come from that queries and keys of patches are rotated by.
enum class RotaryKind {
  kNone,
  kAxial,       ///< half of the angles from the row, half from the column: EVA-02, PE, Naver
  kNormalized,  ///< the same from patch centres in -1..1, divided by periods: DINOv3
  kLearned,     ///< column and row times learned frequencies of each layer and head: Naver mixed
};
constexpr auto enum_names(RotaryKind) {
  using enum RotaryKind;
  return std::to_array<EnumName<RotaryKind>>(
      {{kNone, "none"}, {kAxial, "axial"}, {kNormalized, "normalized"}, {kLearned, "learned"}});
}

/// Where the numbers come from that are added to the scores of pairs of patches.
enum class RelativeBiasKind {
  kNone,
  kTable,    ///< a learned number for each offset and head: BEiT
  kLogMlp,   ///< an MLP on the logarithms of the offsets: timm's relpos
  kSwinMlp,  ///< Swin v2's: the same on normalised offsets, 16 · sigmoid(…)
};
constexpr auto enum_names(RelativeBiasKind) {
  using enum RelativeBiasKind;
  return std::to_array<EnumName<RelativeBiasKind>>(
      {{kNone, "none"}, {kTable, "table"}, {kLogMlp, "log-mlp"}, {kSwinMlp, "swin-mlp"}});
}

/// How a table of offsets is resampled for another resolution.
enum class RelativeResampling {
  kGeometric,       ///< linear between places at geometric distances: timm
  kBilinear,        ///< as an image: transformers
  kGeometricCubic,  ///< a cubic spline through the places of kGeometric: BEiT's authors
};
constexpr auto enum_names(RelativeResampling) {
  using enum RelativeResampling;
  return std::to_array<EnumName<RelativeResampling>>(
      {{kGeometric, "geometric"}, {kBilinear, "bilinear"}, {kGeometricCubic, "geometric-cubic"}});
}

enum class Pooling {
  kClass,         ///< the class token
  kMean,          ///< mean of the tokens
  kMax,           ///< largest of the tokens, per feature
  kMeanMax,       ///< half the mean plus half the maximum
  kAttention,     ///< a learned query attends to the tokens (SigLIP's MAP head)
  kClassAndMean,  ///< class token and mean of the patches side by side (DINOv2 classifiers)
};
constexpr auto enum_names(Pooling) {
  using enum Pooling;
  return std::to_array<EnumName<Pooling>>({{kClass, "class"},
                                           {kMean, "mean"},
                                           {kMax, "max"},
                                           {kMeanMax, "mean-max"},
                                           {kAttention, "attention"},
                                           {kClassAndMean, "class-and-mean"}});
}

struct GridSize {
  size_t rows = 0;
  size_t cols = 0;

  size_t count() const { return rows * cols; }
  bool operator==(const GridSize&) const = default;
};

/// Rotary positions. Prefix tokens are never rotated.
struct RotaryConfig {
  RotaryKind kind = RotaryKind::kNone;
  float temperature = 10000.0f;  ///< the lowest frequency's, or the longest period's base
  float offset = 0.0f;           ///< added to row and column indices; kAxial only
  /// Columns give the first half of the angles, rows the second (timm's 'xy').
  bool columns_first = false;
  /// Elements e and e + d/2 of a head form a pair; false: 2m and 2m + 1.
  bool split_halves = false;
  /// kAxial: indices are scaled to this grid at every input size; 0x0: plain indices.
  GridSize reference{0, 0};
  /// kNormalized: the checkpoint holds the periods (Meta's files round them to bfloat16).
  bool stored_periods = false;

  bool operator==(const RotaryConfig&) const = default;
};

/// A bias of the attention scores that depends on the offset from key patch to query patch.
struct RelativeBiasConfig {
  RelativeBiasKind kind = RelativeBiasKind::kNone;
  bool per_block = true;  ///< every block has its own
  bool shared = false;    ///< all blocks add the same; may come with one of their own
  size_t hidden = 0;      ///< width of the MLP's hidden layer
  /// A table ends with three rows for the class token: class to patch, patch to class, class to
  /// class. Without them pairs with a prefix token have a bias of 0.
  bool class_rows = false;
  GridSize grid{0, 0};  ///< patches of the stored table's model; kTable and kSwinMlp
  RelativeResampling resampling = RelativeResampling::kGeometric;

  /// Rows of the stored table.
  size_t table_rows() const {
    return (2 * grid.rows - 1) * (2 * grid.cols - 1) + (class_rows ? 3 : 0);
  }
  bool operator==(const RelativeBiasConfig&) const = default;
};

/// How an image becomes tokens.
struct EmbeddingConfig {
  size_t image_height = 224;
  size_t image_width = 224;
  size_t patch_height = 16;
  size_t patch_width = 16;
  size_t channels = 3;
  bool patch_bias = true;
  bool patch_norm = false;  ///< a norm on the projected patches, before positions (AIMv2)
  bool conv_stem = false;   ///< convolutions inside each patch before its projection (MobileCLIP-B)
  std::vector<PrefixToken> prefix{PrefixToken::kClass};
  PositionKind positions = PositionKind::kLearned;
  bool positions_cover_prefix = true;  ///< false: positions are added to the patches alone
  GridSize position_grid{14, 14};      ///< the grid of the stored table
  PositionResampling position_resampling = PositionResampling::kBilinear;
  /// Resample the table to a square that holds the grid and take its top left part (NaFlex).
  bool positions_keep_aspect = false;
  bool norm_before_blocks = false;  ///< CLIP's pre-norm

  size_t patch_size() const { return channels * patch_height * patch_width; }
  GridSize grid() const { return {image_height / patch_height, image_width / patch_width}; }
  size_t tokens() const { return prefix.size() + grid().count(); }
  /// Prefix tokens that have a position of their own.
  size_t covered_prefix() const { return positions_cover_prefix ? prefix.size() : 0; }

  bool operator==(const EmbeddingConfig&) const = default;
};

/// The blocks. Every tower, of images or of text, has one of these, because all share the encoder.
struct EncoderConfig {
  size_t width = 768;
  size_t depth = 12;
  size_t heads = 12;
  size_t key_value_heads = 12;  ///< fewer than heads: grouped-query; 1: multi-query
  size_t mlp_width = 3072;      ///< what the second layer of the MLP reads (after gating)
  NormKind norm = NormKind::kLayerNorm;
  float norm_eps = 1e-6f;
  BlockKind block = BlockKind::kPreNorm;
  size_t branches = 1;  ///< parallel attentions, then as many parallel MLPs (timm's `18x2`)
  AttentionKind attention = AttentionKind::kStandard;
  Activation activation = Activation::kGelu;
  bool gated_mlp = false;  ///< SwiGLU: activation(gate) · value
  bool qkv_bias = true;
  bool key_bias = true;         ///< false: of a qkv bias the keys have none (EVA, BEiT)
  bool projection_bias = true;  ///< attention output
  bool mlp_bias = true;         ///< both layers of the MLP
  bool qk_norm = false;
  bool attention_norm = false;  ///< a norm before the attention's output projection (BEiT-3)
  bool mlp_norm = false;        ///< a norm before the MLP's second layer (BEiT-3)
  bool layer_scale = false;
  RotaryConfig rotary{};
  RelativeBiasConfig relative_bias{};

  size_t head_width() const { return width / heads; }
  /// Rows of the joint projection to queries, keys and values.
  size_t qkv_rows() const { return (heads + 2 * key_value_heads) * head_width(); }
  /// Rows of the MLP's first layer: a gated MLP has a gate beside each value.
  size_t mlp_rows() const { return gated_mlp ? 2 * mlp_width : mlp_width; }

  bool operator==(const EncoderConfig&) const = default;
};

/// How the encoder's tokens become an answer.
struct HeadConfig {
  bool final_norm = true;    ///< on the tokens, before pooling
  bool pooled_norm = false;  ///< on the pooled features (timm's fc_norm)
  Pooling pooling = Pooling::kClass;
  /// The classifier reads this many last layers side by side, the earliest first: the tokens of
  /// each are normalised and pooled as those of a last layer are.
  size_t pooled_layers = 1;
  bool pool_prefix = false;   ///< mean, max and attention pooling see the prefix tokens too
  size_t pool_heads = 0;      ///< of an attention pool, 0: as many as the blocks
  size_t pool_mlp_width = 0;  ///< of an attention pool, 0: as wide as the blocks'
  /// Layers in which a class token, which the blocks never saw, reads the patches (CaiT).
  size_t class_layers = 0;
  size_t class_mlp_width = 0;   ///< of the class layers
  bool distilled_head = false;  ///< mean of head(class) and head_dist(distillation), or of features
  size_t pre_logits = 0;        ///< width of a layer before the classifier, 0: none
  bool pre_logits_tanh = true;  ///< false: linear, the projection of a two-tower model
  bool pre_logits_bias = true;
  /// The classifier reads features of length 1: its rows are texts, compared by their angle.
  bool unit_features = false;
  size_t classes = 1000;  ///< 0: no classifier, the pooled features are the output
  bool head_bias = true;
  bool multi_label = false;  ///< sigmoid per class instead of softmax over them

  bool operator==(const HeadConfig&) const = default;
};

struct ModelConfig {
  std::string architecture;  ///< as the checkpoint names it, for people
  EmbeddingConfig embedding;
  EncoderConfig encoder;
  HeadConfig head;

  /// Length of the pooled features of one layer.
  size_t pooled_layer_width() const {
    return head.pooling == Pooling::kClassAndMean ? 2 * encoder.width : encoder.width;
  }
  /// Length of the pooled features.
  size_t pooled_width() const { return head.pooled_layers * pooled_layer_width(); }
  /// The first of the layers that are pooled.
  size_t first_pooled_layer() const { return encoder.depth - head.pooled_layers; }
  /// Length of what the classifier reads.
  size_t classifier_inputs() const {
    return head.pre_logits != 0 ? head.pre_logits : pooled_width();
  }
  /// Length of the model's answer: logits, or features where there is no classifier.
  size_t outputs() const { return head.classes != 0 ? head.classes : classifier_inputs(); }

  bool operator==(const ModelConfig&) const = default;
};

/// A head of a layer, both counted from 0; through the branches of a layer that has several.
struct HeadId {
  size_t layer = 0;
  size_t head = 0;

  bool operator==(const HeadId&) const = default;
};

/// Throws an Error naming the first field that contradicts another one. `where` opens the message.
void validate(const ModelConfig& config, std::string_view where);

/// Attention takes time and memory that grow with the square of the tokens. Published models run on
/// fewer than 20,000; a file that asks for millions would keep a machine busy for days.
inline constexpr size_t kMostTokens = size_t{1} << 15;

class TooManyTokens : public Error {
 public:
  using Error::Error;
};

/// Throws TooManyTokens if the model has more than `most`. `where` opens the message.
void check_tokens(const ModelConfig& config, size_t most, std::string_view where);

}  // namespace vit
