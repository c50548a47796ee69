#include "vit/model/runner.h"

#include <algorithm>
#include <cassert>

#include "patch/patchify.h"
#include "patch/recipe.h"
#include "vit/base/error.h"
#include "vit/model/model.h"

namespace vit {
namespace {

/// For each layer its disabled heads; empty where there are none at all.
std::vector<std::vector<size_t>> heads_by_layer(const std::vector<HeadId>& disabled,
                                                const EncoderConfig& config) {
  if (disabled.empty()) return {};
  std::vector<std::vector<size_t>> layers(config.depth);
  const size_t heads = config.heads * config.branches;
  for (const auto [layer, head] : disabled) {
    if (layer >= config.depth || head >= heads)
      fail("head ", layer, ":", head, " cannot be disabled: the model has layers 0 to ",
           config.depth - 1, " with heads 0 to ", heads - 1);
    layers[layer].push_back(head);
  }
  return layers;
}

/// How many leading tokens these features are computed from; 0: all.
size_t needed_tokens(const Model& model, FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kClass:
      return model.head.class_layers.empty() ? class_token(model.config) + 1 : 0;
    case FeatureKind::kPooled:
      return needed_tokens(model.head);
    case FeatureKind::kMean:
    case FeatureKind::kPatches:
    case FeatureKind::kClassAndMean:
      break;
  }
  return 0;
}

/// Whether the model's own head pools in this way, so that its norm of the pooled features applies.
bool pools_like_head(const Head& head, FeatureKind kind) {
  return (kind == FeatureKind::kClass && head.pooling == Pooling::kClass) ||
         (kind == FeatureKind::kMean && head.pooling == Pooling::kMean) ||
         (kind == FeatureKind::kClassAndMean && head.pooling == Pooling::kClassAndMean);
}

/// Every original patch, also where tokens were merged: a merged token stands for all its parts.
void copy_patches(ConstMatrixView tokens, const TokenMerge* merge, size_t prefix,
                  std::span<float> out) {
  const size_t patches = out.size() / tokens.cols;
  for (size_t i = 0; i < patches; ++i) {
    const size_t row = merge == nullptr ? prefix + i : merge->sources()[prefix + i];
    std::copy_n(tokens.row(row), tokens.cols, out.data() + i * tokens.cols);
  }
}

}  // namespace

struct Runner::State {
  const Model& model;
  Recipe recipe;
  Execution execution;
  std::vector<std::vector<size_t>> disabled_heads;
  ModelWorkspace workspace;
  std::vector<float> output;

  State(const Model& of, const Recipe& used, const RunOptions& options)
      : model(of),
        recipe(used),
        execution(options.pool, of.isa),
        disabled_heads(heads_by_layer(options.disabled_heads, of.config.encoder)),
        workspace(of, options.merge_tokens),
        output(of.config.outputs()) {}

  Resources resources() { return {workspace.encoder, execution}; }
  TokenMerge* merge() { return workspace.merge ? &*workspace.merge : nullptr; }
  std::span<const float> sizes() {
    return workspace.merge ? workspace.merge->sizes() : std::span<const float>();
  }

  /// workspace.pixels to tokens after the last block.
  MatrixView encode(size_t needed, const ModelTaps* taps, ForwardRecord* record = nullptr) {
    if (record != nullptr) record->layers.clear();
    const EmbeddingConfig& embedding = model.config.embedding;
    if (taps != nullptr && taps->pixels) taps->pixels(workspace.pixels);
    patch::patchify(workspace.pixels, embedding.image_width, embedding.patch_height,
                    embedding.patch_width, workspace.patches);
    patch::apply_stem(model.embedding.stem, workspace.patches, workspace.stem, execution);
    patch::embed(model.embedding, workspace.patches, workspace.tokens, execution);
    if (taps != nullptr && taps->tokens) taps->tokens(workspace.tokens);
    if (record != nullptr) record->layers.push_back({.tokens = copy_of(workspace.tokens)});
    return vit::encode(model.encoder, workspace.tokens, resources(),
                       taps == nullptr ? nullptr : &taps->encoder,
                       {.merge = merge(),
                        .needed_tokens = needed,
                        .disabled_heads = disabled_heads,
                        .read_layer = layer_reader(record)});
  }

  /// For a head that reads more than the last layer, and for a record.
  std::function<void(size_t, ConstMatrixView)> layer_reader(ForwardRecord* record = nullptr) {
    if (model.head.layers == 1 && record == nullptr) return {};
    return [this, record](size_t layer, ConstMatrixView tokens) {
      read_layer(model.head, {layer, tokens, sizes()}, resources(), workspace.head);
      if (record == nullptr) return;
      record->layers.push_back({.tokens = copy_of(tokens)});
      if (workspace.merge) record->layers.back().merged = workspace.merge->merged();
    };
  }

  /// Tokens after the last block, from those that entered layer `first`.
  MatrixView resume(size_t first, const ForwardRecord& record,
                    std::span<const std::vector<size_t>> disabled) {
    // What another pass left of these layers was without a head of theirs.
    for (size_t layer = 0; layer < first; ++layer) {
      const ForwardRecord::Layer& after = record.layers[layer + 1];
      read_layer(model.head, {layer, after.tokens, after.merged.sizes}, resources(),
                 workspace.head);
    }
    const ForwardRecord::Layer& from = record.layers[first];
    const MatrixView tokens = workspace.tokens.view().row_range(0, from.tokens.rows());
    copy_rows(from.tokens, tokens);
    if (workspace.merge) workspace.merge->resume(from.merged);
    return vit::encode(model.encoder, tokens, resources(), nullptr,
                       {.merge = merge(),
                        .needed_tokens = needed_tokens(model.head),
                        .disabled_heads = disabled,
                        .read_layer = layer_reader(),
                        .first_layer = first});
  }

  /// Tokens after the last block to `output`.
  void answer(MatrixView tokens, const ModelTaps* taps) {
    const bool tapped = taps != nullptr && taps->pooling && model.head.attention_pool;
    Matrix pooling;
    if (tapped)
      pooling = Matrix(model.head.attention_pool->attention.heads,
                       tokens.rows - (model.head.pool_prefix ? 0 : model.head.prefix));
    const ClassLayerTap* class_layer = taps == nullptr ? nullptr : &taps->class_layer;
    vit::answer(model.head, {tokens, sizes(), pooling, class_layer}, resources(), workspace.head,
                output);
    if (tapped) taps->pooling(pooling);
  }

  /// Tokens after the last block to features of any kind but kPooled.
  void read_features(MatrixView tokens, FeatureKind kind, std::span<float> features) {
    const size_t prefix = model.config.embedding.prefix.size(), width = tokens.cols;
    const bool class_layers = !model.head.class_layers.empty();
    const bool reads_class = kind == FeatureKind::kClass || kind == FeatureKind::kClassAndMean;
    if (class_layers && reads_class)
      read_class_token(model.head, {tokens}, resources(), features.first(width));
    normalize(model.head.final_norm, tokens, tokens, execution);
    if (kind == FeatureKind::kPatches) return copy_patches(tokens, merge(), prefix, features);
    if (!class_layers && reads_class)
      std::ranges::copy(tokens.row_span(class_token(model.config)), features.begin());
    if (kind != FeatureKind::kClass)
      mean_of(tokens.row_range(prefix, tokens.rows - prefix),
              sizes().empty() ? sizes() : sizes().subspan(prefix), features.last(width));
    const MatrixView row{features.data(), 1, features.size()};
    if (pools_like_head(model.head, kind)) normalize(model.head.pooled_norm, row, row, execution);
  }
};

Runner::Runner(const Model& model, const Recipe& recipe, const RunOptions& options)
    : state_(std::make_unique<State>(model, recipe, options)) {}
Runner::~Runner() = default;
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;

MatrixView Runner::encode(const Image& image) {
  return encode(image, nullptr);
}

std::span<const float> Runner::logits(const Image& image) {
  return logits(image, nullptr);
}

std::vector<float> Runner::features(const Image& image, FeatureKind kind) {
  check_features(state_->model.config, kind);
  prepare(image);
  return features(kind);
}

void Runner::prepare(const Image& image) {
  patch::apply_recipe(image, state_->recipe, state_->workspace.recipe, state_->workspace.pixels,
                      state_->execution.isa);
}

MatrixView Runner::pixels() {
  return state_->workspace.pixels;
}

MatrixView Runner::encode() {
  return state_->encode(0, nullptr);
}

std::span<const float> Runner::logits() {
  return logits(static_cast<const ModelTaps*>(nullptr));
}

std::vector<float> Runner::features(FeatureKind kind) {
  State& s = *state_;
  check_features(s.model.config, kind);
  std::vector<float> features(feature_count(s.model.config, kind));
  const MatrixView tokens = s.encode(needed_tokens(s.model, kind), nullptr);
  if (kind == FeatureKind::kPooled)
    pool_features(s.model.head, {tokens, s.sizes()}, s.resources(), s.workspace.head, features);
  else
    s.read_features(tokens, kind, features);
  return features;
}

ConstMatrixView Runner::patches() const {
  return state_->workspace.patches;
}
const Recipe& Runner::recipe() const {
  return state_->recipe;
}

const Model& Runner::model() const {
  return state_->model;
}

void Runner::set_pool(ThreadPool* pool) {
  state_->execution.pool = pool;
}

MatrixView Runner::encode(const Image& image, const ModelTaps* taps) {
  prepare(image);
  return encode(taps);
}

MatrixView Runner::encode(const ModelTaps* taps) {
  return state_->encode(0, taps);
}

std::span<const float> Runner::logits(const Image& image, const ModelTaps* taps) {
  prepare(image);
  return logits(taps);
}

std::span<const float> Runner::logits(const ModelTaps* taps) {
  state_->answer(state_->encode(needed_tokens(state_->model.head), taps), taps);
  return state_->output;
}

std::span<const float> Runner::logits(ForwardRecord& record) {
  State& s = *state_;
  s.answer(s.encode(needed_tokens(s.model.head), nullptr, &record), nullptr);
  return s.output;
}

std::span<const float> Runner::resume_without(HeadId head, const ForwardRecord& record) {
  State& s = *state_;
  assert(record.layers.size() == s.model.config.encoder.depth);
  auto disabled = heads_by_layer({head}, s.model.config.encoder);
  for (size_t layer = 0; layer < s.disabled_heads.size(); ++layer)
    disabled[layer].insert(disabled[layer].end(), s.disabled_heads[layer].begin(),
                           s.disabled_heads[layer].end());
  s.answer(s.resume(head.layer, record, disabled), nullptr);
  return s.output;
}

}  // namespace vit
