#include "vit/model/load.h"

#include <algorithm>

#include "patch/position.h"
#include "vit/model/bind.h"

namespace vit {
namespace {

/// The position table for the grid the model will run on; prefix rows first if it covers them.
struct Positions {
  Matrix prefix;
  Matrix patches;
};

Matrix copy_rows(ConstMatrixView from, size_t first, size_t count) {
  Matrix to(count, from.cols);
  for (size_t r = 0; r < count; ++r) std::copy_n(from.row(first + r), from.cols, to.view().row(r));
  return to;
}

Positions learned_positions(const WeightScope& w, const ModelConfig& c, GridSize grid) {
  const size_t covered = c.embedding.covered_prefix();
  const Matrix table =
      w.matrix("pos_embed", covered + c.embedding.position_grid.count(), c.encoder.width);
  const ConstMatrixView patches =
      table.view().row_range(covered, c.embedding.position_grid.count());
  return {copy_rows(table, 0, covered),
          patch::resample_positions(patches, c.embedding.position_grid, grid,
                                    c.embedding.position_resampling)};
}

Positions make_positions(const WeightScope& w, const ModelConfig& c, GridSize grid) {
  switch (c.embedding.positions) {
    case PositionKind::kNone:
      return {};
    case PositionKind::kLearned:
      return learned_positions(w, c, grid);
    case PositionKind::kSinusoidal1d: {
      const size_t covered = c.embedding.covered_prefix();
      const Matrix table = patch::sinusoidal_positions_1d(covered + grid.count(), c.encoder.width);
      return {copy_rows(table, 0, covered), copy_rows(table, covered, grid.count())};
    }
    case PositionKind::kSinusoidal2d:
      return {{}, patch::sinusoidal_positions_2d(grid, c.encoder.width)};
  }
  return {};
}

/// One row per prefix token, in the checkpoint's order, positions added where the table has any.
Matrix bind_prefix(const WeightScope& w, const ModelConfig& c, const Matrix& positions) {
  Matrix prefix(c.embedding.prefix.size(), c.encoder.width);
  const auto registers = static_cast<size_t>(
      std::count(c.embedding.prefix.begin(), c.embedding.prefix.end(), PrefixToken::kRegister));
  Matrix register_rows;
  if (registers > 0) register_rows = w.matrix("reg_token", registers, c.encoder.width);
  size_t next_register = 0;
  for (size_t i = 0; i < c.embedding.prefix.size(); ++i) {
    const MatrixView row = prefix.view().row_range(i, 1);
    if (c.embedding.prefix[i] == PrefixToken::kRegister) {
      add(register_rows.view().row_range(next_register++, 1), {}, row);
    } else {
      const bool is_class = c.embedding.prefix[i] == PrefixToken::kClass;
      add(w.matrix(is_class ? "cls_token" : "dist_token", 1, c.encoder.width), {}, row);
    }
  }
  if (!positions.empty()) add(positions, {}, prefix);
  return prefix;
}

patch::PatchEmbedding bind_embedding(const WeightScope& w, const ModelConfig& c) {
  Positions positions = make_positions(w, c, c.embedding.grid());
  patch::PatchEmbedding embedding;
  embedding.project =
      bind_linear(w / "patch_embed.proj", c.encoder.width, c.embedding.patch_size());
  if (c.embedding.patch_norm)
    embedding.norm = bind_norm(w / "patch_embed.norm", c.encoder.width, c);
  embedding.prefix = bind_prefix(w, c, positions.prefix);
  embedding.positions = std::move(positions.patches);
  if (c.embedding.norm_before_blocks)
    embedding.pre_norm = bind_norm(w / "norm_pre", c.encoder.width, c);
  return embedding;
}

}  // namespace

Model load_model(const weights::Checkpoint& checkpoint, const LoadOptions& options) {
  Model model{.config = checkpoint.config, .embedding = {}, .encoder = {}, .head = {}};
  ModelConfig& c = model.config;
  if (options.image_height != 0) c.embedding.image_height = options.image_height;
  if (options.image_width != 0) c.embedding.image_width = options.image_width;
  if (options.positions) c.embedding.position_resampling = *options.positions;
  validate(c, checkpoint.path);
  check_tokens(c, options.most_tokens, checkpoint.path);

  const WeightScope weights(checkpoint);
  model.embedding = bind_embedding(weights, c);
  const WeightScope blocks = weights.in(options.precision) / "blocks";
  for (size_t layer = 0; layer < c.encoder.depth; ++layer)
    model.encoder.blocks.push_back(bind_block(blocks / std::to_string(layer), c, layer));
  model.head = bind_head(weights, c);
  for (const auto& [name, weight] : checkpoint.weights()) model.parameters += weight.size();
  return model;
}

}  // namespace vit
