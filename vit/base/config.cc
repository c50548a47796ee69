#include "vit/base/config.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "vit/base/error.h"

namespace vit {
namespace {

// Far above any published model. A file with larger sizes is broken or hostile: sums of sizes would
// overflow, and the list of its tensors would fill the memory.
constexpr size_t kLargestSize = size_t{1} << 20;
constexpr size_t kMostBlocks = 4096;
constexpr size_t kMostPrefixTokens = 4096;

struct Sized {
  std::string_view name;
  size_t value;
};

void validate_sizes(const ModelConfig& c, std::string_view where) {
  const Sized sizes[] = {
      {"image height", c.embedding.image_height},
      {"image width", c.embedding.image_width},
      {"patch height", c.embedding.patch_height},
      {"patch width", c.embedding.patch_width},
      {"width", c.encoder.width},
      {"depth", c.encoder.depth},
      {"heads", c.encoder.heads},
      {"key/value heads", c.encoder.key_value_heads},
      {"mlp width", c.encoder.mlp_width},
      {"branches", c.encoder.branches},
  };
  for (const auto& size : sizes) {
    if (size.value == 0) fail_at(where, size.name, " is 0");
    if (size.value > kLargestSize)
      fail_at(where, size.name, " is ", size.value, ", at most ", kLargestSize);
  }
  if (c.encoder.depth > kMostBlocks)
    fail_at(where, "depth is ", c.encoder.depth, ", at most ", kMostBlocks);
  if (c.encoder.branches > kMostBlocks / c.encoder.depth)
    fail_at(where, c.encoder.depth, " layers of ", c.encoder.branches, " branches, at most ",
            kMostBlocks, " branches in all");
  if (c.embedding.prefix.size() > kMostPrefixTokens)
    fail_at(where, c.embedding.prefix.size(), " prefix tokens, at most ", kMostPrefixTokens);
  if (c.head.class_layers > kMostBlocks)
    fail_at(where, c.head.class_layers, " class layers, at most ", kMostBlocks);
  const RotaryConfig& rotary = c.encoder.rotary;
  const RelativeBiasConfig& bias = c.encoder.relative_bias;
  for (const size_t size :
       {c.head.classes, c.head.pre_logits, c.head.pool_heads, c.head.pool_mlp_width,
        c.head.class_mlp_width, c.embedding.position_grid.rows, c.embedding.position_grid.cols,
        rotary.reference.rows, rotary.reference.cols, bias.grid.rows, bias.grid.cols, bias.hidden})
    if (size > kLargestSize) fail_at(where, "a size of ", size, ", at most ", kLargestSize);
}

void validate_tokens(const ModelConfig& c, std::string_view where) {
  if (c.embedding.channels != 3)
    fail_at(where, c.embedding.channels, " input channels, only RGB (3) is supported");
  if (c.embedding.image_height < c.embedding.patch_height ||
      c.embedding.image_width < c.embedding.patch_width)
    fail_at(where, "image ", c.embedding.image_height, "x", c.embedding.image_width,
            " is smaller than its patch ", c.embedding.patch_height, "x", c.embedding.patch_width);
  if (c.embedding.conv_stem && (c.embedding.patch_height != 16 || c.embedding.patch_width != 16))
    fail_at(where, "a stem of convolutions needs patches of 16x16, got ", c.embedding.patch_height,
            "x", c.embedding.patch_width);
  const bool learned = c.embedding.positions == PositionKind::kLearned ||
                       c.embedding.positions == PositionKind::kFactorized;
  if (learned && c.embedding.position_grid.count() == 0)
    fail_at(where, "learned positions need a position grid");
  if (c.embedding.positions == PositionKind::kFactorized && c.embedding.covered_prefix() != 0)
    fail_at(where, "factorized positions cannot cover prefix tokens");
  if (c.embedding.positions == PositionKind::kSinusoidal2d && c.encoder.width % 4 != 0)
    fail_at(where, "2d sinusoidal positions need a width that 4 divides, got ", c.encoder.width);
}

void validate_encoder(const ModelConfig& c, std::string_view where) {
  if (c.encoder.width % c.encoder.heads != 0)
    fail_at(where, "width ", c.encoder.width, " is not a multiple of heads ", c.encoder.heads);
  if (c.encoder.heads % c.encoder.key_value_heads != 0)
    fail_at(where, "heads ", c.encoder.heads, " is not a multiple of key/value heads ",
            c.encoder.key_value_heads);
  if (!std::isfinite(c.encoder.norm_eps) || c.encoder.norm_eps < 0.0f)
    fail_at(where, "norm eps ", c.encoder.norm_eps, " is not a small positive number");
  if (c.encoder.attention == AttentionKind::kDifferential && c.encoder.head_width() % 2 != 0)
    fail_at(where, "differential attention splits each head in two, but heads are ",
            c.encoder.head_width(), " wide");
  if (c.encoder.attention == AttentionKind::kTalkingHeads &&
      c.encoder.key_value_heads != c.encoder.heads)
    fail_at(where, "talking heads need keys and values of their own, got ",
            c.encoder.key_value_heads, " key/value heads for ", c.encoder.heads, " heads");
  if (c.encoder.branches > 1 && c.encoder.block != BlockKind::kPreNorm)
    fail_at(where, c.encoder.branches, " branches need pre-norm blocks, got ",
            to_string(c.encoder.block));
  if (c.encoder.block == BlockKind::kParallel &&
      (c.encoder.gated_mlp || c.encoder.attention_norm || c.encoder.mlp_norm))
    fail_at(where, "parallel blocks have neither a gated MLP nor inner norms");
}

void validate_rotary(const ModelConfig& c, std::string_view where) {
  const RotaryConfig& rotary = c.encoder.rotary;
  if (rotary.kind == RotaryKind::kNone) return;
  if (c.encoder.head_width() % 4 != 0)
    fail_at(where, "rotary positions need heads of a width that 4 divides, got ",
            c.encoder.head_width());
  if (!std::isfinite(rotary.temperature) || rotary.temperature <= 0.0f)
    fail_at(where, "rotary temperature ", rotary.temperature, " is not a positive number");
  if (!std::isfinite(rotary.offset))
    fail_at(where, "rotary offset ", rotary.offset, " is not a number");
  if ((rotary.reference.rows == 0) != (rotary.reference.cols == 0))
    fail_at(where, "rotary reference grid ", rotary.reference.rows, "x", rotary.reference.cols,
            " has an edge of 0");
  if (c.encoder.attention != AttentionKind::kStandard || c.encoder.branches > 1)
    fail_at(where, "rotary positions need standard attention in one branch, got ",
            to_string(c.encoder.attention), " attention in ", c.encoder.branches);
}

void validate_relative_bias(const ModelConfig& c, std::string_view where) {
  const RelativeBiasConfig& bias = c.encoder.relative_bias;
  if (bias.kind == RelativeBiasKind::kNone) return;
  if (!bias.per_block && !bias.shared)
    fail_at(where, "a relative position bias is neither shared nor of each block");
  const bool mlp = bias.kind != RelativeBiasKind::kTable;
  if (mlp && bias.hidden == 0) fail_at(where, "the MLP of the relative position bias is 0 wide");
  if (mlp && bias.class_rows)
    fail_at(where, "only a table of relative position bias has rows for the class token");
  if (bias.kind != RelativeBiasKind::kLogMlp && bias.grid.count() == 0)
    fail_at(where, "a relative position bias of kind ", to_string(bias.kind), " needs a grid");
  if (bias.class_rows && c.embedding.prefix.size() != 1)
    fail_at(where,
            "a relative position bias with rows for the class token needs one prefix token, ",
            "got ", c.embedding.prefix.size());
  if (c.encoder.attention != AttentionKind::kStandard || c.encoder.branches > 1)
    fail_at(where, "a relative position bias needs standard attention in one branch, got ",
            to_string(c.encoder.attention), " attention in ", c.encoder.branches);
}

/// The class token of these layers stands in front of the patches only there.
void validate_class_layers(const ModelConfig& c, std::string_view where) {
  if (c.head.class_layers == 0) return;
  if (!c.embedding.prefix.empty())
    fail_at(where, "class layers have their own class token, but ", c.embedding.prefix.size(),
            " prefix tokens pass through the blocks");
  if (c.head.class_mlp_width == 0) fail_at(where, "the MLP of the class layers is 0 wide");
  if (c.head.pooling != Pooling::kClass || c.head.distilled_head)
    fail_at(where, "class layers need class pooling and one classifier");
}

/// The head reads the first two tokens as they leave the last norm, and each has a classifier of
/// its own: anything between the tokens and the classifiers would be for one of them alone. No
/// published model has more.
void validate_distilled_head(const ModelConfig& c, std::string_view where) {
  if (c.embedding.prefix.size() < 2 || c.embedding.prefix[0] != PrefixToken::kClass ||
      c.embedding.prefix[1] != PrefixToken::kDistillation)
    fail_at(where, "a distilled head needs a class token and then a distillation token in front");
  if (c.head.pooling != Pooling::kClass)
    fail_at(where, "a distilled head needs class pooling, got ", to_string(c.head.pooling));
  if (c.head.pre_logits != 0)
    fail_at(where, "a distilled head cannot follow a pre-logits layer, got one of width ",
            c.head.pre_logits);
  if (c.head.unit_features) fail_at(where, "a distilled head cannot read features of length 1");
}

/// Each layer is pooled in the same way, and the classifier comes directly after that.
void validate_pooled_layers(const ModelConfig& c, std::string_view where) {
  const size_t layers = c.head.pooled_layers;
  if (layers == 0 || layers > c.encoder.depth)
    fail_at(where, "a classifier that reads ", layers, " layers, expected 1 to ", c.encoder.depth,
            ", the depth");
  if (layers == 1) return;
  const auto refuse = [&](std::string_view what) {
    fail_at(where, "a classifier that reads ", layers, " layers cannot have ", what);
  };
  if (c.head.class_layers != 0) refuse("class layers");
  if (c.head.distilled_head) refuse("a distilled head");
  if (c.head.pooling == Pooling::kAttention) refuse("attention pooling");
  if (c.head.pre_logits != 0) refuse("a pre-logits layer before it");
}

void validate_head(const ModelConfig& c, std::string_view where) {
  const auto count = [&](PrefixToken token) {
    return std::count(c.embedding.prefix.begin(), c.embedding.prefix.end(), token);
  };
  if (count(PrefixToken::kClass) > 1 || count(PrefixToken::kDistillation) > 1)
    fail_at(where, "more than one class or distillation token");
  const bool reads_class =
      c.head.pooling == Pooling::kClass || c.head.pooling == Pooling::kClassAndMean;
  const size_t pool_heads = c.head.pool_heads;
  if (pool_heads != 0 && c.encoder.width % pool_heads != 0)
    fail_at(where, "width ", c.encoder.width, " is not a multiple of the pool's heads ",
            pool_heads);
  validate_pooled_layers(c, where);
  if (c.head.class_layers != 0) return validate_class_layers(c, where);
  if (reads_class && count(PrefixToken::kClass) == 0)
    fail_at(where, to_string(c.head.pooling), " pooling needs a class token, the model has none");
  if (reads_class && c.embedding.prefix.front() != PrefixToken::kClass)
    fail_at(where, to_string(c.head.pooling), " pooling reads the first token, which is a ",
            to_string(c.embedding.prefix.front()), " token; expected the class token");
  if (c.head.distilled_head) validate_distilled_head(c, where);
}

}  // namespace

void validate(const ModelConfig& config, std::string_view where) {
  validate_sizes(config, where);
  validate_tokens(config, where);
  validate_encoder(config, where);
  validate_rotary(config, where);
  validate_relative_bias(config, where);
  validate_head(config, where);
}

void check_tokens(const ModelConfig& c, size_t most, std::string_view where) {
  if (c.embedding.tokens() <= most) return;
  fail_as<TooManyTokens>(where, "an input of ", c.embedding.image_height, "x",
                         c.embedding.image_width, " pixels in patches of ",
                         c.embedding.patch_height, "x", c.embedding.patch_width, " gives ",
                         c.embedding.tokens(), " tokens, at most ", most,
                         " are allowed; choose a smaller input size or allow more tokens");
}

}  // namespace vit
