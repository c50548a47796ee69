#include "vit/interpret/relevance.h"

#include <algorithm>
#include <cmath>

#include "vit/base/error.h"
#include "vit/base/softmax.h"

namespace vit::interpret {
namespace {

using Tap = gradient::AttentionTap<float>;

/// max(A · dY/dA, 0), heads fused: [rows, T].
Matrix positive_influence(const Tap& tap, size_t heads, HeadFusion fusion) {
  Matrix products(tap.probabilities.rows, tap.probabilities.cols);
  for (size_t r = 0; r < products.rows(); ++r) {
    const float* weights = tap.probabilities.row(r);
    const float* gradients = tap.gradient.row(r);
    float* out = products.view().row(r);
    for (size_t c = 0; c < products.cols(); ++c) out[c] = std::max(weights[c] * gradients[c], 0.0f);
  }
  return fuse_heads(products, heads, fusion);
}

/// The row while it is multiplied by the layers, last to first. Branches of a layer read the same
/// row.
class RelevanceRow {
 public:
  explicit RelevanceRow(std::vector<float> start) : row_(std::move(start)), sum_(row_) {}

  void pass(size_t layer, const Matrix& influence) {
    if (layer != layer_) row_ = sum_;
    layer_ = layer;
    const std::vector<float> update = weighted_rows(influence, row_);
    for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += update[i];
  }
  void start_from(std::vector<float> row) { row_ = sum_ = std::move(row); }
  const std::vector<float>& result() const { return sum_; }

 private:
  std::vector<float> row_;
  std::vector<float> sum_;
  size_t layer_ = static_cast<size_t>(-1);
};

/// A class layer's update of the row over the class token and the patches: only the class token
/// reads.
void pass_class_layer(const Matrix& influence, std::vector<float>& row) {
  const float share = row[0];
  for (size_t i = 0; i < row.size(); ++i) row[i] += share * influence(0, i);
}

/// The pool attends to the patches or to all tokens; the row covers all tokens.
std::vector<float> over_all_tokens(const Matrix& pooled, size_t tokens) {
  std::vector<float> row(tokens);
  std::copy_n(pooled.data(), pooled.cols(),
              row.begin() + static_cast<std::ptrdiff_t>(tokens - pooled.cols()));
  return row;
}

/// d log P(target) / d output, where P is a softmax or, of independent classes, a sigmoid.
Matrix log_probability_gradient(std::span<const float> output, size_t target, bool multi_label) {
  Matrix gradient(1, output.size());
  if (multi_label) {
    gradient(0, target) = static_cast<float>(1.0 / (1.0 + std::exp(double{output[target]})));
    return gradient;
  }
  std::vector<double> probabilities(output.size());
  softmax_in_double(output, probabilities);
  for (size_t i = 0; i < output.size(); ++i)
    gradient(0, i) = static_cast<float>((i == target ? 1.0 : 0.0) - probabilities[i]);
  return gradient;
}

double influence_of_head(const Tap& tap, size_t head, size_t rows) {
  double sum = 0.0;
  for (size_t r = head * rows; r < (head + 1) * rows; ++r)
    for (size_t c = 0; c < tap.probabilities.cols; ++c)
      sum += double{tap.probabilities(r, c)} * double{tap.gradient(r, c)};
  return sum;
}

}  // namespace

Explanation::Explanation(const gradient::Network<float>& network, ConstMatrixView patches)
    : network_(network), layout_(token_layout(network.config)) {
  const auto output =
      gradient::forward<float>(network, {.patches = patches, .images = 1, .paths = {}}, trace_);
  output_.assign(output.row(0), output.row(0) + output.cols);
}

std::vector<float> Explanation::relevance(size_t target, const RelevanceOptions& options) {
  if (target >= output_.size())
    fail("class ", target, ": the model has classes 0 to ", output_.size() - 1);
  const size_t layers = network_.config.encoder.depth;
  if (options.first_layer >= layers)
    fail("relevance from layer ", options.first_layer, ": the model has layers 0 to ", layers - 1);
  const bool pool = options.query.kind == QueryKind::kPool;
  std::vector<float> start(layout_.tokens());
  if (!pool) start = query_weights(options.query, layout_);
  RelevanceRow row(start);
  gradient::BackwardTaps<float> taps;
  taps.attention = [&](const Tap& tap) {
    if (tap.layer < options.first_layer) return;
    row.pass(tap.layer, positive_influence(tap, network_.config.encoder.heads, options.fusion));
  };
  std::vector<float> read(1 + layout_.tokens());  // by the class token of class layers
  read[0] = 1.0f;
  taps.pooling = [&](const Tap& tap) {
    if (!pool) return;
    const Matrix influence = positive_influence(tap, tap.probabilities.rows, options.fusion);
    if (network_.config.head.class_layers == 0)
      return row.start_from(over_all_tokens(influence, layout_.tokens()));
    pass_class_layer(influence, read);
    row.start_from({read.begin() + 1, read.end()});
  };
  Matrix wanted(1, output_.size());
  wanted(0, target) = 1.0f;
  gradient::backward<float>(network_, trace_, wanted, {}, &taps);

  std::vector<float> tokens = row.result();
  // Rounding may leave slightly less than the query's own weight, which is subtracted again.
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = std::max(tokens[i] - start[i], 0.0f);
  return tokens;
}

std::vector<double> Explanation::head_estimates(size_t target) {
  const ModelConfig& config = network_.config;
  std::vector<double> estimates(config.encoder.depth * config.encoder.branches *
                                config.encoder.heads);
  gradient::BackwardTaps<float> taps;
  taps.attention = [&](const Tap& tap) {
    const size_t first = (tap.layer * config.encoder.branches + tap.branch) * config.encoder.heads;
    for (size_t h = 0; h < config.encoder.heads; ++h)
      estimates[first + h] += influence_of_head(tap, h, layout_.tokens());
  };
  const Matrix wanted = log_probability_gradient(output_, target, config.head.multi_label);
  gradient::backward<float>(network_, trace_, wanted, {}, &taps);
  return estimates;
}

}  // namespace vit::interpret
