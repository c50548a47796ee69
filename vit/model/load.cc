#include "vit/model/load.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "patch/position.h"
#include "vit/model/bind.h"
#include "vit/model/bind_positions.h"
#include "weights/tensor_list.h"

namespace vit {
namespace {

/// One row per prefix token, in the checkpoint's order; `positions` are those of the prefix, if
/// any.
Matrix bind_prefix(const WeightScope& w, const ModelConfig& c, ConstMatrixView positions) {
  const std::vector<PrefixToken>& kinds = c.embedding.prefix;
  const Execution alone{nullptr, w.isa()};
  Matrix prefix(kinds.size(), c.encoder.width);
  Matrix registers;
  if (w.has("reg_token")) registers = w.matrix("reg_token");
  size_t next_register = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const MatrixView row = prefix.view().row_range(i, 1);
    if (kinds[i] == PrefixToken::kRegister)
      add(registers.view().row_range(next_register++, 1), {}, row, alone);
    else
      add(w.matrix(kinds[i] == PrefixToken::kClass ? "cls_token" : "dist_token"), {}, row, alone);
  }
  if (!positions.empty()) add(positions, {}, prefix, alone);
  return prefix;
}

/// A convolution of a stem, with its batch norm folded in. `inputs`: channels that it reads; its
/// columns become place after place, as the layer before it leaves them; 0: they stay as stored.
Linear bind_stem_layer(const WeightScope& w, size_t inputs) {
  constexpr double kEps = 1e-5;  // of every batch norm in timm
  std::vector<float> kernel = w.vector("weight");
  const std::vector<float> gain = w.vector("norm.weight"), mean = w.vector("norm.mean"),
                           variance = w.vector("norm.variance");
  std::vector<float> bias = w.vector("norm.bias");
  const size_t out = gain.size(), in = kernel.size() / out;
  for (size_t r = 0; r < out; ++r) {
    const double scale = double{gain[r]} / std::sqrt(double{variance[r]} + kEps);
    const std::vector<float> row(&kernel[r * in], &kernel[r * in] + in);
    for (size_t c = 0; c < in; ++c) {
      const size_t to = inputs == 0 ? c : c % (in / inputs) * inputs + c / (in / inputs);
      kernel[r * in + to] = static_cast<float>(scale * double{row[c]});
    }
    bias[r] = static_cast<float>(double{bias[r]} - scale * double{mean[r]});
  }
  const auto read = [&](size_t first, size_t count, float* rows) {
    std::copy_n(&kernel[first * in], count * in, rows);
  };
  return pack_linear(out, in, read, bias, w.isa());
}

patch::PatchEmbedding bind_embedding(const WeightScope& w, const ModelConfig& c,
                                     ConstMatrixView stored) {
  const Matrix positions = patch::positions_for(c.embedding, c.encoder.width, stored);
  const size_t patches = positions.empty() ? 0 : c.embedding.grid().count();
  const size_t covered = positions.rows() - patches;

  patch::PatchEmbedding embedding;
  if (c.embedding.conv_stem)
    embedding.stem = {
        .pixels = bind_stem_layer(w / "patch_embed.stem.0", 0),
        .places = bind_stem_layer(w / "patch_embed.stem.1", c.embedding.patch_size() / 4)};
  embedding.project = bind_linear(w / "patch_embed.proj");
  if (c.embedding.patch_norm) embedding.norm = bind_norm(w / "patch_embed.norm", c.encoder);
  embedding.prefix = bind_prefix(w, c, positions.view().row_range(0, covered));
  embedding.positions = copy_of(positions.view().row_range(covered, patches));
  if (c.embedding.norm_before_blocks) embedding.pre_norm = bind_norm(w / "norm_pre", c.encoder);
  return embedding;
}

}  // namespace

Matrix stored_positions(const weights::Checkpoint& checkpoint) {
  const WeightScope w(checkpoint, Isa::kBaseline);  // nothing is packed
  const PositionKind kind = checkpoint.config.embedding.positions;
  if (kind == PositionKind::kLearned) return w.matrix("pos_embed");
  if (kind != PositionKind::kFactorized) return {};
  // Factorized ones are rows, then columns.
  const Matrix rows = w.matrix("pos_embed_y"), cols = w.matrix("pos_embed_x");
  Matrix both(rows.rows() + cols.rows(), rows.cols());
  std::copy_n(rows.data(), rows.size(), both.data());
  std::copy_n(cols.data(), cols.size(), both.data() + rows.size());
  return both;
}

Model load_model(const weights::Checkpoint& checkpoint, const LoadOptions& options) {
  Model model{.config = checkpoint.config, .embedding = {}, .encoder = {}, .head = {}};
  model.isa = options.isa;
  ModelConfig& c = model.config;
  if (options.head) c.head = *options.head;
  validate(c, checkpoint.path);
  check_tokens(c, options.most_tokens, checkpoint.path);

  weights::check_tensors(c, checkpoint.weights(), checkpoint.path);
  const WeightScope weights(checkpoint, options.isa);
  model.embedding = bind_embedding(weights, c, stored_positions(checkpoint));
  const WeightScope blocks = weights.in(options.precision) / "blocks";
  for (size_t layer = 0; layer < c.encoder.depth; ++layer)
    model.encoder.blocks.push_back(bind_block(blocks / std::to_string(layer), c.encoder, layer));
  bind_places(weights, c, model.encoder);
  model.head = bind_head(weights, c);
  for (const auto& [name, weight] : checkpoint.weights()) model.parameters += weight.size();
  return model;
}

}  // namespace vit
