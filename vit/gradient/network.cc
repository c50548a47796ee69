#include "vit/gradient/network.h"

#include <cassert>

#include "patch/patchify.h"
#include "patch/position.h"
#include "vit/base/error.h"

namespace vit::gradient {
namespace {

NormRule norm_rule(const ModelConfig& c) {
  return {.kind = c.norm, .eps = double{c.norm_eps}};
}

BlockRule block_rule(const ModelConfig& c, size_t images) {
  const NormRule norm = norm_rule(c);
  return {.kind = c.block,
          .attention = {.images = images,
                        .heads = c.heads,
                        .key_value_heads = c.key_value_heads,
                        .head_width = c.head_width(),
                        .norm = norm},
          .mlp = {.activation = c.activation, .gated = c.gated_mlp, .norm = norm},
          .norm = norm};
}

HeadRule head_rule(const ModelConfig& c, size_t images) {
  const NormRule norm = norm_rule(c);
  return {.images = images,
          .prefix = c.prefix.size(),
          .pooling = c.pooling,
          .pool_prefix = c.pool_prefix,
          .heads = c.heads,
          .mlp = {.activation = c.activation, .gated = false, .norm = norm},
          .norm = norm};
}

template <typename T>
EmbeddingRule embedding_rule(const ModelConfig& c, const Trace<T>& trace) {
  return {.images = trace.images,
          .kept = trace.kept,
          .grid = c.grid().count(),
          .prefix = c.prefix,
          .norm = norm_rule(c)};
}

Matrix fixed_positions(const ModelConfig& c) {
  if (c.positions == PositionKind::kSinusoidal1d)
    return patch::sinusoidal_positions_1d(
        (c.positions_cover_prefix ? c.prefix.size() : 0) + c.grid().count(), c.width);
  if (c.positions == PositionKind::kSinusoidal2d)
    return patch::sinusoidal_positions_2d(c.grid(), c.width);
  return {};
}

template <typename T>
Network<T> blank_network(const ModelConfig& config, Layout layout) {
  Network<T> network{.config = config, .layout = std::move(layout), .numbers = {}};
  network.numbers.assign(network.layout.size(), T{0});
  const Matrix fixed = fixed_positions(config);
  network.fixed_positions.resize(fixed.rows(), fixed.cols());
  for (size_t r = 0; r < fixed.rows(); ++r)
    for (size_t c = 0; c < fixed.cols(); ++c)
      network.fixed_positions.view()(r, c) = static_cast<T>(fixed(r, c));
  return network;
}

/// A stored table for the grid of `config`: prefix rows as they are, the others resampled.
std::vector<float> positions_for(const weights::Checkpoint& checkpoint, const ModelConfig& config,
                                 const weights::Weight& table) {
  const ModelConfig& stored = checkpoint.config;
  const size_t covered = stored.positions_cover_prefix ? stored.prefix.size() : 0;
  Matrix all(covered + stored.position_grid.count(), stored.width);
  if (table.size() != all.size())
    fail(checkpoint.path, ": tensor 'pos_embed' holds ", table.size(), " numbers, expected ",
         all.size());
  table.read_rows(0, table.rows(), all.data());
  const Matrix grid =
      patch::resample_positions(all.view().row_range(covered, stored.position_grid.count()),
                                stored.position_grid, config.grid(), config.position_resampling);
  std::vector<float> values(all.data(), all.data() + covered * stored.width);
  values.insert(values.end(), grid.data(), grid.data() + grid.size());
  return values;
}

std::vector<float> values_of(const weights::Checkpoint& checkpoint, const ModelConfig& config,
                             const Slot& slot) {
  const weights::Weight& weight = checkpoint.at(slot.name);
  if (slot.name == "pos_embed") return positions_for(checkpoint, config, weight);
  if (weight.size() != slot.size())
    fail(checkpoint.path, ": tensor '", slot.name, "' has shape ",
         weights::to_string(weight.shape()), ", expected ", weights::to_string(slot.shape));
  std::vector<float> values(slot.size());
  weight.read_rows(0, weight.rows(), values.data());
  return values;
}

template <typename T>
PathScale<T> path_scale(ConstView<T> paths, size_t layer) {
  if (paths.empty()) return {};
  return {paths.row_span(2 * layer), paths.row_span(2 * layer + 1)};
}

template <typename T>
ModelParts<const T> parts_of(const Network<T>& network) {
  return bind_parts<const T>(network.config, network.layout, network.numbers.data());
}

}  // namespace

template <typename T>
Network<T> make_network(const ModelConfig& config) {
  ModelConfig own = config;
  const std::string where = config.architecture.empty() ? "model" : config.architecture;
  patch::patch_grid(own.image_height, own.image_width, own.patch_height, own.patch_width);
  if (own.positions == PositionKind::kLearned) own.position_grid = own.grid();
  validate(own, where);
  require_differentiable(own, where);
  return blank_network<T>(own, Layout(own));
}

template <typename T>
Network<T> load_network(const weights::Checkpoint& checkpoint, size_t image_height,
                        size_t image_width) {
  ModelConfig config = checkpoint.config;
  if (image_height != 0) config.image_height = image_height;
  if (image_width != 0) config.image_width = image_width;
  patch::patch_grid(config.image_height, config.image_width, config.patch_height,
                    config.patch_width);
  config.position_grid = config.grid();
  validate(config, checkpoint.path);
  require_differentiable(config, checkpoint.path);
  Network<T> network = blank_network<T>(config, Layout(config, [&](std::string_view name) {
                                          return checkpoint.find(name) != nullptr;
                                        }));
  for (const Slot& slot : network.layout.slots()) {
    const std::vector<float> values = values_of(checkpoint, config, slot);
    for (size_t i = 0; i < values.size(); ++i)
      network.numbers[slot.offset + i] = static_cast<T>(values[i]);
  }
  return network;
}

template <typename T>
ConstView<T> forward(const Network<T>& network, const Batch<T>& batch, Trace<T>& trace) {
  const ModelConfig& c = network.config;
  assert(batch.patches.rows ==
         (batch.kept.empty() ? batch.images * c.grid().count() : batch.kept.size()));
  assert(batch.paths.empty() ||
         (batch.paths.rows == 2 * c.depth && batch.paths.cols == batch.images));
  const ModelParts<const T> parts = parts_of(network);
  trace.images = batch.images;
  trace.paths = batch.paths;
  trace.kept = batch.kept;
  trace.blocks.resize(c.depth);

  trace.embedding.patches = batch.patches;
  trace.head.tokens.resize(batch.images * c.prefix.size() + batch.patches.rows, c.width);
  const View<T> tokens = trace.head.tokens;
  ConstView<T> positions = parts.embedding.positions;
  if (positions.empty()) positions = network.fixed_positions;
  embed<T>(embedding_rule(c, trace), parts.embedding, positions, trace.embedding, tokens);
  const BlockRule rule = block_rule(c, batch.images);
  for (size_t layer = 0; layer < c.depth; ++layer)
    forward<T>(rule, parts.blocks[layer], path_scale<T>(batch.paths, layer), trace.blocks[layer],
               tokens);
  answer<T>(head_rule(c, batch.images), parts.head, trace.head);
  return trace.head.logits;
}

template <typename T>
void backward(const Network<T>& network, Trace<T>& trace, ConstView<T> dlogits,
              const Wanted<T>& wanted, const BackwardTaps<T>* taps) {
  const ModelConfig& c = network.config;
  assert(wanted.parameters.empty() || wanted.parameters.size() == network.layout.size());
  const ModelParts<const T> parts = parts_of(network);
  const ModelParts<T> gradients = bind_parts<T>(
      c, network.layout, wanted.parameters.empty() ? nullptr : wanted.parameters.data());
  trace.gradient.resize(trace.head.tokens.rows(), c.width);
  answer_back<T>(head_rule(c, trace.images),
                 {.part = parts.head,
                  .gradients = gradients.head,
                  .trace = trace.head,
                  .scratch = trace.head_scratch,
                  .pooling_hook = taps == nullptr ? nullptr : &taps->pooling},
                 dlogits, trace.gradient);
  const BlockRule rule = block_rule(c, trace.images);
  for (size_t layer = c.depth; layer-- > 0;)
    backward<T>(rule,
                {.part = parts.blocks[layer],
                 .gradients = gradients.blocks[layer],
                 .trace = trace.blocks[layer],
                 .scratch = trace.block_scratch,
                 .paths = path_scale<T>(trace.paths, layer),
                 .hook = taps == nullptr ? nullptr : &taps->attention,
                 .layer = layer},
                trace.gradient);
  if (wanted.parameters.empty() && wanted.patches.empty()) return;
  embed_back<T>(embedding_rule(c, trace),
                {parts.embedding, gradients.embedding, trace.embedding, trace.embedding_scratch},
                trace.gradient, wanted.patches);
}

template Network<float> make_network(const ModelConfig&);
template Network<double> make_network(const ModelConfig&);
template Network<float> load_network(const weights::Checkpoint&, size_t, size_t);
template Network<double> load_network(const weights::Checkpoint&, size_t, size_t);
template ConstView<float> forward(const Network<float>&, const Batch<float>&, Trace<float>&);
template ConstView<double> forward(const Network<double>&, const Batch<double>&, Trace<double>&);
template void backward(const Network<float>&, Trace<float>&, ConstView<float>, const Wanted<float>&,
                       const BackwardTaps<float>*);
template void backward(const Network<double>&, Trace<double>&, ConstView<double>,
                       const Wanted<double>&, const BackwardTaps<double>*);

}  // namespace vit::gradient
