#include "weights/infer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "vit/base/error.h"
#include "weights/layouts/tables.h"

namespace vit::weights {
namespace {

constexpr size_t kLargestIndex = 4096;

class Reader {
 public:
  Reader(const WeightMap& weights, const std::string& where) : weights_(weights), where_(where) {}

  bool has(const std::string& name) const { return weights_.contains(name); }

  /// A tensor of `rank` axes, all of them positive.
  const Shape& shape(const std::string& name, size_t rank) const {
    const auto found = weights_.find(name);
    if (found == weights_.end()) fail_at(where_, "tensor '", name, "' is missing");
    const Shape& shape = found->second.shape();
    if (shape.size() != rank || element_count(shape) == 0)
      fail_at(where_, "tensor '", name, "' has shape ", to_string(shape), ", expected ", rank,
              rank == 1 ? " axis" : " axes");
    return shape;
  }

  /// Some layouts store heads as an axis of their own, [heads, d, width]. 0 where they do not.
  size_t stored_head_width(const std::string& name) const {
    const Tensor& part = weights_.find(name)->second.parts().front();
    return part.shape.size() == 3 ? part.shape[1] : 0;
  }

  /// The grid of a table that its file stores as an image, [1, rows, columns, width]: NaFlex's.
  std::optional<GridSize> stored_grid(const std::string& name) const {
    const Shape& shape = weights_.find(name)->second.parts().front().shape;
    if (shape.size() != 4 || shape[0] != 1) return {};
    return GridSize{shape[1], shape[2]};
  }

  /// One more than the largest number after `before` ("blocks.").
  size_t count(std::string_view before) const {
    size_t count = 0;
    for (auto it = weights_.lower_bound(before); it != weights_.end(); ++it) {
      if (!it->first.starts_with(before)) break;
      size_t index = 0;
      const char* begin = it->first.data() + before.size();
      const auto read = std::from_chars(begin, it->first.data() + it->first.size(), index);
      if (read.ptr == begin) continue;
      if (read.ec != std::errc() || index > kLargestIndex)
        fail_at(where_, "tensor '", it->first, "' counts higher than any model, at most ",
                kLargestIndex);
      count = std::max(count, index + 1);
    }
    return count;
  }

  size_t rank(const std::string& name) const { return weights_.find(name)->second.shape().size(); }

  const std::string& where() const { return where_; }

 private:
  const WeightMap& weights_;
  const std::string& where_;
};

size_t square_root(size_t n) {
  return static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(n))));
}

bool is_square(size_t n) {
  return n != 0 && square_root(n) * square_root(n) == n;
}

void infer_tokens(const Reader& r, ModelConfig& c) {
  const Shape& kernel = r.shape("patch_embed.proj.weight", 4);
  c.encoder.width = kernel[0];
  c.embedding.channels = kernel[1];
  c.embedding.patch_height = kernel[2];
  c.embedding.patch_width = kernel[3];
  c.embedding.patch_bias = r.has("patch_embed.proj.bias");
  c.embedding.patch_norm = r.has("patch_embed.norm.weight");
  c.embedding.conv_stem = r.has("patch_embed.stem.0.weight");
  c.embedding.norm_before_blocks = r.has("norm_pre.weight");

  c.embedding.prefix.clear();
  // A class token that has layers of its own does not pass through the blocks.
  const bool class_layers = r.has("class_blocks.0.norm1.weight");
  if (r.has("cls_token") && !class_layers) c.embedding.prefix.push_back(PrefixToken::kClass);
  if (r.has("dist_token")) c.embedding.prefix.push_back(PrefixToken::kDistillation);
  if (r.has("reg_token")) {
    const size_t registers = r.shape("reg_token", 3)[1];
    if (registers > kLargestIndex)
      fail_at(r.where(), registers, " register tokens, at most ", kLargestIndex);
    c.embedding.prefix.insert(c.embedding.prefix.end(), registers, PrefixToken::kRegister);
  }
  c.embedding.positions = r.has("pos_embed") ? PositionKind::kLearned : PositionKind::kNone;
  if (r.has("pos_embed_y") && r.has("pos_embed_x")) {
    c.embedding.positions = PositionKind::kFactorized;
    c.embedding.positions_cover_prefix = false;
    c.embedding.position_grid = {r.shape("pos_embed_y", 3)[1], r.shape("pos_embed_x", 3)[1]};
  }
}

/// What tensors of positions and of talking heads tell; 0: nothing.
size_t infer_head_width(const Reader& r, const std::string& attention, size_t width) {
  const auto of_heads = [&](size_t heads) { return heads == 0 ? 0 : width / heads; };
  if (r.has(attention + "proj_l.weight"))
    return of_heads(r.shape(attention + "proj_l.weight", 2)[0]);
  for (const std::string& bias : {attention + "rel_pos.", std::string("rel_pos.")}) {
    if (r.has(bias + "table")) return of_heads(r.shape(bias + "table", 2)[1]);
    if (r.has(bias + "mlp.fc2.weight")) return of_heads(r.shape(bias + "mlp.fc2.weight", 2)[0]);
  }
  if (r.has("rope.periods")) return 4 * r.shape("rope.periods", 1)[0];
  if (r.has("rope.freqs_cos")) return r.shape("rope.freqs_cos", 2)[1];
  if (r.has("rope.freqs") && r.rank("rope.freqs") == 4)
    return of_heads(r.shape("rope.freqs", 4)[2]);
  return 0;
}

void infer_attention(const Reader& r, const std::string& attention, ModelConfig& c) {
  const size_t rows = r.shape(attention + "qkv.weight", 2)[0];
  c.encoder.key_bias = !r.has(attention + "q_bias");
  c.encoder.qkv_bias = r.has(attention + "qkv.bias") || !c.encoder.key_bias;
  c.encoder.projection_bias = r.has(attention + "proj.bias");
  c.encoder.qk_norm = r.has(attention + "q_norm.weight");
  c.encoder.attention_norm = r.has(attention + "norm.weight");
  c.encoder.attention = r.has(attention + "sub_norm.weight") ? AttentionKind::kDifferential
                                                             : AttentionKind::kStandard;
  if (r.has(attention + "proj_l.weight")) c.encoder.attention = AttentionKind::kTalkingHeads;
  size_t head_width = r.stored_head_width(attention + "qkv.weight");
  if (c.encoder.attention == AttentionKind::kDifferential)
    head_width = r.shape(attention + "sub_norm.weight", 1)[0];
  else if (c.encoder.qk_norm)
    head_width = r.shape(attention + "q_norm.weight", 1)[0];
  if (head_width == 0) head_width = infer_head_width(r, attention, c.encoder.width);
  c.encoder.heads = head_width == 0 ? 0 : c.encoder.width / head_width;
  c.encoder.key_value_heads = c.encoder.heads;
  if (head_width != 0 && rows > c.encoder.width)
    c.encoder.key_value_heads = (rows - c.encoder.width) / 2 / head_width;
}

void infer_blocks(const Reader& r, ModelConfig& c) {
  c.encoder.depth = r.count("blocks.");
  if (c.encoder.depth == 0) fail_at(r.where(), "holds no blocks");
  c.encoder.branches = std::max<size_t>(1, r.count("blocks.0.branches."));
  const std::string block = c.encoder.branches > 1 ? "blocks.0.branches.0." : "blocks.0.";

  r.shape(block + "norm1.weight", 1);
  c.encoder.norm = r.has(block + "norm1.bias") ? NormKind::kLayerNorm : NormKind::kRmsNorm;
  c.encoder.block = r.has(block + "norm2.weight") ? BlockKind::kPreNorm : BlockKind::kParallel;
  infer_attention(r, block + "attn.", c);

  c.encoder.mlp_width = r.shape(block + "mlp.fc2.weight", 2)[1];
  c.encoder.gated_mlp = r.shape(block + "mlp.fc1.weight", 2)[0] == 2 * c.encoder.mlp_width;
  c.encoder.mlp_bias = r.has(block + "mlp.fc2.bias") || r.has(block + "mlp.fc1.bias");
  c.encoder.mlp_norm = r.has(block + "mlp.norm.weight");
  c.encoder.layer_scale = r.has(block + "ls1.gamma");
  if (c.encoder.gated_mlp) c.encoder.activation = Activation::kSilu;
}

/// A table of offsets has (2·side - 1)² rows, and three more for a class token.
void infer_table(const Reader& r, const std::string& name, ModelConfig& c) {
  RelativeBiasConfig& bias = c.encoder.relative_bias;
  const size_t rows = r.shape(name, 2)[0];
  bias.kind = RelativeBiasKind::kTable;
  bias.class_rows = rows > 3 && is_square(rows - 3) && !c.embedding.prefix.empty();
  const size_t side = (square_root(bias.class_rows ? rows - 3 : rows) + 1) / 2;
  bias.grid = {side, side};
  c.embedding.image_height = side * c.embedding.patch_height;
  c.embedding.image_width = side * c.embedding.patch_width;
}

void infer_relative_bias(const Reader& r, ModelConfig& c) {
  RelativeBiasConfig& bias = c.encoder.relative_bias;
  const auto has = [&](const std::string& name) {
    return r.has(name + "rel_pos.table") || r.has(name + "rel_pos.mlp.fc1.weight");
  };
  bias.per_block = has("blocks.0.attn.");
  bias.shared = has("");
  if (!bias.per_block && !bias.shared) {
    bias = {};
    return;
  }
  const std::string name = bias.per_block ? "blocks.0.attn.rel_pos." : "rel_pos.";
  if (r.has(name + "table")) return infer_table(r, name + "table", c);
  bias.hidden = r.shape(name + "mlp.fc1.weight", 2)[0];
  bias.kind = r.has(name + "mlp.fc2.bias") ? RelativeBiasKind::kLogMlp : RelativeBiasKind::kSwinMlp;
  if (bias.kind == RelativeBiasKind::kSwinMlp) bias.grid = c.embedding.grid();
}

/// Angles that follow from the grid leave nothing in a file; the layout says what they are.
void infer_rotary(const Reader& r, const Layout& layout, ModelConfig& c) {
  RotaryConfig& rotary = c.encoder.rotary;
  if (r.has("rope.freqs")) {
    rotary = {.kind = RotaryKind::kLearned, .columns_first = true};
  } else if (r.has("rope.periods")) {
    rotary = kDinov3Rotary;
    rotary.stored_periods = true;
  } else {
    rotary = layout.rotary;
  }
}

/// CaiT's layers in which the class token reads the patches.
void infer_class_layers(const Reader& r, ModelConfig& c) {
  c.head.class_layers = r.count("class_blocks.");
  if (c.head.class_layers != 0)
    c.head.class_mlp_width = r.shape("class_blocks.0.mlp.fc1.weight", 2)[0];
}

/// Perception Encoder: positions are counted from the class token on; its pool has 8 heads and
/// reads that token too; without a pool and without a last norm the patches are averaged, as timm
/// does.
void infer_perception(const Reader& r, ModelConfig& c) {
  constexpr std::pair<size_t, size_t> kHeads[] = {
      {192, 3}, {384, 6}, {768, 12}, {1024, 16}, {1536, 16}};
  for (const auto& [width, heads] : kHeads)
    if (c.encoder.width == width) c.encoder.heads = c.encoder.key_value_heads = heads;
  if (r.has("cls_token")) c.encoder.rotary.offset = 1.0f;
  if (c.head.pooling == Pooling::kAttention) {
    c.head.pool_prefix = true;
    c.head.pool_heads = 8;
  } else if (!r.has("norm.weight")) {
    c.head.pooling = Pooling::kMean;
  }
}

void infer_head(const Reader& r, ModelConfig& c) {
  c.head.final_norm = r.has("norm.weight");
  c.head.pooled_norm = r.has("fc_norm.weight");
  const bool has_class = r.has("cls_token");
  if (r.has("attn_pool.latent")) {
    c.head.pooling = Pooling::kAttention;
    const size_t width = r.shape("attn_pool.mlp.fc1.weight", 2)[0];
    c.head.pool_mlp_width = width == c.encoder.mlp_width ? 0 : width;
  } else {
    c.head.pooling = has_class && !c.head.pooled_norm ? Pooling::kClass : Pooling::kMean;
  }

  c.head.classes = r.has("head.weight") ? r.shape("head.weight", 2)[0] : 0;
  c.head.head_bias = r.has("head.bias");
  c.head.distilled_head = r.has("head_dist.weight");
  c.head.pre_logits = r.has("pre_logits.weight") ? r.shape("pre_logits.weight", 2)[0] : 0;
  if (c.head.classes != 0 && has_class && r.shape("head.weight", 2)[1] == 2 * c.encoder.width)
    c.head.pooling = Pooling::kClassAndMean;
}

/// A square table tells its grid and the image size. Any other is left in one row here: what its
/// grid is only a config can say, and position_grid_of() refuses it where there is none.
void infer_grid(const Reader& r, ModelConfig& c) {
  if (const auto grid = r.stored_grid("pos_embed")) {
    c.embedding.positions_cover_prefix = false;
    c.embedding.position_grid = *grid;
    return;
  }
  const size_t stored = r.shape("pos_embed", 3)[1], prefix = c.embedding.prefix.size();
  c.embedding.positions_cover_prefix =
      stored > prefix && (is_square(stored - prefix) || !is_square(stored));
  const size_t patches = stored - (c.embedding.positions_cover_prefix ? prefix : 0);
  c.embedding.position_grid = {1, patches};
  if (!is_square(patches)) return;
  c.embedding.position_grid = {square_root(patches), square_root(patches)};
  c.embedding.image_height = c.embedding.position_grid.rows * c.embedding.patch_height;
  c.embedding.image_width = c.embedding.position_grid.cols * c.embedding.patch_width;
}

bool of_beits_authors(const Interpretation& found) {
  return std::ranges::any_of(found.unused, [](const std::string& name) {
    return name.ends_with("relative_position_index");
  });
}

/// Of files under timm's names, plain models keep the layout's rule; timm's code for these families
/// has its own. NaFlex resamples its table to any image, so the table does not tell the size. Files
/// of BEiT's authors have timm's names and an index into the table as well.
void apply_timm_rules(const Interpretation& found, ModelConfig& c) {
  const Layout& layout = *found.layout;
  const bool family = c.encoder.attention == AttentionKind::kTalkingHeads ||
                      c.encoder.rotary.kind == RotaryKind::kLearned;
  if (layout.family == LayoutFamily::kTimm && family)
    c.embedding.position_resampling = PositionResampling::kBicubicAntialias;
  if (layout.resamples_table)
    c.embedding.image_height = c.embedding.image_width = layout.image_size;
  if (layout.family == LayoutFamily::kTimm && of_beits_authors(found))
    c.encoder.relative_bias.resampling = RelativeResampling::kGeometricCubic;
}

}  // namespace

ModelConfig infer_config(const Interpretation& found, const std::string& where) {
  const Reader reader(found.weights, where);
  ModelConfig config;
  config.encoder.norm_eps = found.layout->norm_eps;
  config.encoder.activation = found.layout->activation;
  config.embedding.image_height = config.embedding.image_width = found.layout->image_size;
  config.embedding.position_resampling = found.layout->resampling;
  infer_tokens(reader, config);
  infer_blocks(reader, config);
  infer_rotary(reader, *found.layout, config);
  infer_relative_bias(reader, config);
  infer_class_layers(reader, config);
  infer_head(reader, config);
  if (found.layout->family == LayoutFamily::kPerception) infer_perception(reader, config);
  if (config.embedding.positions == PositionKind::kLearned) infer_grid(reader, config);
  apply_timm_rules(found, config);
  if (const size_t d = found.layout->head_width; d != 0 && config.encoder.heads == 0)
    config.encoder.heads = config.encoder.key_value_heads =
        std::max<size_t>(1, config.encoder.width / d);
  return config;
}

TextConfig infer_text_config(const WeightMap& weights, const std::string& where) {
  const Reader reader(weights, where);
  ModelConfig blocks;
  blocks.encoder.width = reader.shape("token_embed.weight", 2)[1];
  infer_blocks(reader, blocks);
  TextConfig config;
  config.encoder = blocks.encoder;
  config.vocabulary = reader.shape("token_embed.weight", 2)[0];
  config.context = reader.shape("pos_embed", 2)[0];
  config.features = reader.shape("proj.weight", 2)[0];
  config.projection_bias = reader.has("proj.bias");
  return config;
}

GridSize position_grid_of(const WeightMap& weights, const ModelConfig& config, GridSize expected,
                          const std::string& where) {
  const Reader reader(weights, where);
  const size_t stored = reader.shape("pos_embed", 3)[1];
  if (const auto grid = reader.stored_grid("pos_embed")) return *grid;
  const size_t covered = config.embedding.covered_prefix();
  const size_t patches = stored > covered ? stored - covered : 0;
  if (patches == expected.count() && patches != 0) return expected;
  // A row is what infer_config() leaves.
  const GridSize said = config.embedding.position_grid;
  if (patches == said.count() && said.rows > 1) return said;
  if (!is_square(patches))
    fail_at(where, "tensor 'pos_embed' holds ", stored, " positions, expected ", covered,
            " for the prefix tokens and a square number for the patches");
  return {square_root(patches), square_root(patches)};
}

}  // namespace vit::weights
