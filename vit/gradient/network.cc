#include "vit/gradient/network.h"

#include <cassert>

#include "patch/patchify.h"
#include "patch/position.h"
#include "vit/base/error.h"
#include "vit/encoder/relative_bias.h"
#include "weights/finite.h"

namespace vit::gradient {
namespace {

template <typename T>
Network<T> blank_network(const ModelConfig& config, Layout layout) {
  Network<T> network{.config = config, .layout = std::move(layout), .numbers = {}};
  network.numbers.assign(network.layout.size(), T{0});
  if (config.embedding.positions == PositionKind::kLearned) return network;
  const Matrix fixed = patch::positions_for(config.embedding, config.encoder.width, {});
  network.fixed_positions.resize(fixed.rows(), fixed.cols());
  for (size_t r = 0; r < fixed.rows(); ++r)
    for (size_t c = 0; c < fixed.cols(); ++c)
      network.fixed_positions.view()(r, c) = static_cast<T>(fixed(r, c));
  return network;
}

std::vector<float> read(const weights::Checkpoint& checkpoint, const std::string& name) {
  const weights::Weight& weight = checkpoint.at(name);
  std::vector<float> values = weight.numbers();
  weights::check_finite(weight, 0, values, {checkpoint.path, name});
  return values;
}

/// Factorized positions are rows and columns, one after the other.
std::vector<float> read_positions(const weights::Checkpoint& checkpoint, const std::string& name) {
  if (checkpoint.config.embedding.positions != PositionKind::kFactorized)
    return read(checkpoint, name);
  std::vector<float> values = read(checkpoint, "pos_embed_y");
  const std::vector<float> columns = read(checkpoint, "pos_embed_x");
  values.insert(values.end(), columns.begin(), columns.end());
  return values;
}

/// The numbers of a tensor. Tables of positions and of offsets are resampled from the grids that
/// `stored_as` names to that of its input.
std::vector<float> values_of(const weights::Checkpoint& checkpoint, const ModelConfig& stored_as,
                             const Slot& slot) {
  const bool positions = slot.spec.role == weights::TensorRole::kPositions;
  std::vector<float> values =
      positions ? read_positions(checkpoint, slot.name()) : read(checkpoint, slot.name());
  const ConstMatrixView stored{values.data(), values.size() / slot.cols, slot.cols};
  const RelativeBiasConfig& bias = stored_as.encoder.relative_bias;
  Matrix table;
  if (positions)
    table = patch::positions_for(stored_as.embedding, slot.cols, stored);
  else if (slot.spec.role == weights::TensorRole::kTable && bias.kind == RelativeBiasKind::kTable)
    table = resample_bias_table(bias, stored, stored_as.embedding.grid());
  else
    return values;
  return {table.data(), table.data() + table.size()};
}

/// Factorized positions become their sums, as one table.
void join_factors(ModelConfig& config) {
  if (config.embedding.positions == PositionKind::kFactorized)
    config.embedding.positions = PositionKind::kLearned;
}

/// The stored table of relative positions is that of the grid that the model runs on.
void fit_bias_grid(ModelConfig& config) {
  if (config.encoder.relative_bias.kind == RelativeBiasKind::kTable)
    config.encoder.relative_bias.grid = config.embedding.grid();
}

template <typename T>
Block<T> block_of(const NetworkView<T>& network, const Trace<T>& trace, size_t layer) {
  return {.kind = network.config.encoder.block,
          .branches = network.parts.blocks[layer],
          .paths = trace.paths.empty() ? trace.paths : trace.paths.row_range(2 * layer, 2),
          .images = trace.head.images,
          .kept_patches = trace.embedding.kept_patches};
}

}  // namespace

template <typename T>
NetworkView<T>::NetworkView(const Network<T>& network, const ModelRows<T>& of)
    : config(network.config),
      layout(network.layout),
      rows(of),
      parts(bind_parts<T>(config, layout, rows)) {
  assert(rows.numbers.size() == layout.size());
  assert(rows.gradients.empty() ||
         rows.gradients.size() ==
             (rows.low_rank != nullptr ? rows.low_rank->size() : layout.size()));
  if (!network.fixed_positions.empty()) parts.embedding.positions = {network.fixed_positions, {}};
}

template <typename T>
Network<T> make_network(const ModelConfig& config) {
  ModelConfig own = config;
  const std::string where = config.architecture.empty() ? "model" : config.architecture;
  patch::patch_grid(own.embedding.image_height, own.embedding.image_width,
                    own.embedding.patch_height, own.embedding.patch_width);
  join_factors(own);
  if (own.embedding.positions == PositionKind::kLearned)
    own.embedding.position_grid = own.embedding.grid();
  fit_bias_grid(own);
  validate(own, where);
  require_differentiable(own, where);
  return blank_network<T>(own, Layout(own));
}

template <typename T>
Network<T> load_network(const weights::Checkpoint& checkpoint,
                        const std::optional<HeadConfig>& head) {
  ModelConfig config = checkpoint.config;
  if (head) config.head = *head;
  patch::patch_grid(config.embedding.image_height, config.embedding.image_width,
                    config.embedding.patch_height, config.embedding.patch_width);
  const ModelConfig stored = config;  // with the grids of the stored tables
  config.embedding.position_grid = config.embedding.grid();
  join_factors(config);
  fit_bias_grid(config);
  validate(config, checkpoint.path);
  require_differentiable(config, checkpoint.path);
  weights::check_tensors(stored, checkpoint.weights(), checkpoint.path);
  Network<T> network = blank_network<T>(config, Layout(config, [&](std::string_view name) {
                                          return checkpoint.find(name) != nullptr;
                                        }));
  for (const Slot& slot : network.layout.slots()) {
    const std::vector<float> values = values_of(checkpoint, stored, slot);
    for (size_t i = 0; i < values.size(); ++i)
      network.numbers[slot.offset + i] = static_cast<T>(values[i]);
  }
  return network;
}

template <typename T>
ConstView<T> forward(const NetworkView<T>& network, const Batch<T>& batch, Trace<T>& trace) {
  const ModelConfig& c = network.config;
  assert(batch.patches.rows ==
         (batch.kept.empty() ? batch.images * c.embedding.grid().count() : batch.kept.size()));
  assert(batch.paths.empty() ||
         (batch.paths.rows == 2 * c.encoder.depth && batch.paths.cols == batch.images));
  const ModelParts<T>& parts = network.parts;
  trace.paths = batch.paths;
  trace.embedding.patches = batch.patches;
  trace.embedding.kept_patches = batch.kept;
  trace.embedding.images = trace.head.images = batch.images;
  trace.blocks.resize(c.encoder.depth);
  trace.head.earlier.resize(c.head.pooled_layers - 1);

  trace.head.tokens.resize(batch.images * c.embedding.prefix.size() + batch.patches.rows,
                           c.encoder.width);
  const View<T> tokens = trace.head.tokens;
  embed<T>(parts.embedding, trace.embedding, tokens);
  for (size_t layer = 0; layer < c.encoder.depth; ++layer)
    forward<T>(block_of(network, trace, layer), trace.blocks[layer], tokens);
  for (size_t layer = c.first_pooled_layer(); layer + 1 < c.encoder.depth; ++layer)
    trace.head.earlier[layer - c.first_pooled_layer()].tokens =
        trace.blocks[layer + 1].front().attention_step.x.view();  // what the next block read
  answer<T>(parts.head, trace.head);
  return trace.head.logits;
}

template <typename T>
void backward(const NetworkView<T>& network, Trace<T>& trace, ConstView<T> dlogits,
              View<T> dpatches, const BackwardTaps<T>* taps) {
  const ModelConfig& c = network.config;
  const ModelParts<T>& parts = network.parts;
  const BackwardTaps<T> none;
  const BackwardTaps<T>& called = taps == nullptr ? none : *taps;
  answer_back<T>(parts.head, trace.head, trace.d_head, dlogits, called.pooling);
  const View<T> gradient = trace.d_head.tokens;
  for (size_t layer = c.encoder.depth; layer-- > 0;) {
    if (layer >= c.first_pooled_layer() && layer + 1 < c.encoder.depth)
      read_layer_back<T>(parts.head, trace.head, trace.d_head, layer - c.first_pooled_layer());
    backward<T>(block_of(network, trace, layer), trace.blocks[layer], trace.d_branch, gradient,
                {called.attention, layer});
  }
  if (network.rows.gradients.empty() && dpatches.empty()) return;
  embed_back<T>(parts.embedding, trace.embedding, trace.d_embedding, gradient, dpatches);
}

template struct NetworkView<float>;
template struct NetworkView<double>;
template Network<float> make_network(const ModelConfig&);
template Network<double> make_network(const ModelConfig&);
template Network<float> load_network(const weights::Checkpoint&, const std::optional<HeadConfig>&);
template Network<double> load_network(const weights::Checkpoint&, const std::optional<HeadConfig>&);
template ConstView<float> forward(const NetworkView<float>&, const Batch<float>&, Trace<float>&);
template ConstView<double> forward(const NetworkView<double>&, const Batch<double>&,
                                   Trace<double>&);
template void backward(const NetworkView<float>&, Trace<float>&, ConstView<float>, View<float>,
                       const BackwardTaps<float>*);
template void backward(const NetworkView<double>&, Trace<double>&, ConstView<double>, View<double>,
                       const BackwardTaps<double>*);

}  // namespace vit::gradient
