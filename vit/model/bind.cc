#include "vit/model/bind.h"

#include <cmath>
#include <numeric>

#include "vit/base/error.h"
#include "vit/base/int8.h"
#include "vit/kernels/int8_linear.h"
#include "weights/finite.h"

namespace vit {
namespace {

/// The differential transformer's depth schedule, layer counted from 0.
float initial_lambda(size_t layer) {
  return static_cast<float>(0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(layer)));
}

/// exp of a learned number, or of the scalar product of two learned vectors.
double lambda_term(const WeightScope& w, const std::string& index, const std::string& letter,
                   size_t width) {
  if (w.has("lambda_" + letter)) return std::exp(w.scalar("lambda_" + letter));
  const std::vector<float> q = w.vector("lambda_q" + index, width);
  const std::vector<float> k = w.vector("lambda_k" + index, width);
  return std::exp(std::inner_product(q.begin(), q.end(), k.begin(), 0.0));
}

Differential bind_differential(const WeightScope& w, const ModelConfig& c, size_t layer) {
  const size_t half = c.encoder.head_width() / 2;
  const float initial = initial_lambda(layer);
  const double lambda = lambda_term(w, "1", "a", half) - lambda_term(w, "2", "b", half);
  w.check_lambda(static_cast<float>(lambda));
  constexpr float kSubNormEps = 1e-5f;  // fixed in the reference, whatever the model's own
  return {.lambda = static_cast<float>(lambda) + initial,
          .initial = initial,
          .norm = {.kind = NormKind::kRmsNorm,
                   .eps = kSubNormEps,
                   .weight = w.vector("sub_norm.weight", 2 * half)}};
}

std::vector<float> bind_layer_scale(const WeightScope& w, const ModelConfig& c) {
  return c.encoder.layer_scale ? w.vector("gamma", c.encoder.width) : std::vector<float>{};
}

AttentionPool bind_attention_pool(const WeightScope& w, const ModelConfig& c) {
  AttentionPool pool;
  pool.latent = w.matrix("latent", 1, c.encoder.width);
  pool.attention.query = bind_linear(w / "q", c.encoder.width, c.encoder.width);
  pool.attention.key_value = bind_linear(w / "kv", 2 * c.encoder.width, c.encoder.width);
  pool.attention.project = bind_linear(w / "proj", c.encoder.width, c.encoder.width);
  pool.attention.heads = pool.attention.key_value_heads = c.encoder.heads;
  pool.norm = bind_norm(w / "norm", c.encoder.width, c);
  // A plain MLP even where the blocks' own are gated.
  pool.mlp.activation = c.encoder.activation;
  const size_t hidden = w.rows("mlp.fc1.weight");
  pool.mlp.expand = bind_linear(w / "mlp.fc1", hidden, c.encoder.width);
  pool.mlp.contract = bind_linear(w / "mlp.fc2", c.encoder.width, hidden);
  return pool;
}

}  // namespace

std::string WeightScope::path(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
}

WeightScope WeightScope::operator/(std::string_view name) const {
  return WeightScope(*checkpoint_, path(name), precision_);
}

bool WeightScope::has(std::string_view name) const {
  return checkpoint_->find(path(name)) != nullptr;
}

size_t WeightScope::rows(std::string_view name) const {
  return checkpoint_->at(path(name)).rows();
}

const weights::Weight& WeightScope::demand(std::string_view name, size_t rows, size_t cols) const {
  const weights::Weight& weight = checkpoint_->at(path(name));
  if (weight.size() != rows * cols)
    fail(checkpoint_->path, ": tensor '", path(name), "' has shape ",
         weights::to_string(weight.shape()), ", expected ",
         weights::to_string(cols == 1 ? weights::Shape{rows} : weights::Shape{rows, cols}));
  return weight;
}

void WeightScope::check_int8(std::string_view name, std::span<const std::int8_t> row,
                             float scale) const {
  for (const std::int8_t value : row)
    if (std::abs(value) > kLargestInt8Weight)
      fail(checkpoint_->path, ": tensor '", path(name), "' holds ", static_cast<int>(value),
           ", expected integers of at most ", kLargestInt8Weight, " either way");
  const std::vector<int> wide(row.begin(), row.end());
  if (const int sum = largest_int8_sum<int>(wide); sum > kLargestInt8Sum)
    fail(checkpoint_->path, ": tensor '", path(name), "' has four integers that add up to ", sum,
         ", expected at most ", kLargestInt8Sum, "; convert the original again");
  if (!(scale >= 0.0f) || !std::isfinite(scale))
    fail(checkpoint_->path, ": tensor '", path(name), "' has a scale of ", scale,
         ", expected a finite number from 0");
}

void WeightScope::check_lambda(float lambda) const {
  if (!std::isfinite(lambda))
    fail(checkpoint_->path, ": the lambdas of '", prefix_, "' give ", lambda,
         ", expected a finite number");
}

void WeightScope::read_rows(std::string_view name, const weights::Weight& weight, size_t first,
                            size_t count, float* out) const {
  weight.read_rows(first, count, out);
  const std::span<const float> numbers(out, count * weight.cols());
  if (weights::first_not_finite(numbers) != numbers.size())  // names are made for errors only
    weights::check_finite(weight, first, numbers, {checkpoint_->path, path(name)});
}

std::vector<float> WeightScope::vector(std::string_view name, size_t n) const {
  std::vector<float> values(n);
  const weights::Weight& weight = demand(name, n, 1);
  read_rows(name, weight, 0, weight.rows(), values.data());
  return values;
}

Matrix WeightScope::matrix(std::string_view name, size_t rows, size_t cols) const {
  Matrix values(rows, cols);
  const weights::Weight& weight = demand(name, rows, cols);
  read_rows(name, weight, 0, weight.rows(), values.data());
  return values;
}

Precision WeightScope::precision_of(const weights::Weight& weight) const {
  if (precision_) return *precision_;
  return weight.is_int8() ? Precision::kInt8 : Precision::kF32;
}

Linear bind_linear(const WeightScope& w, size_t out, size_t in) {
  const weights::Weight& weight = w.demand("weight", out, in);
  const auto bias = w.has("bias") ? w.vector("bias", out) : std::vector<float>{};
  const auto read = [&](size_t first, size_t count, float* rows) {
    w.read_rows("weight", weight, first, count, rows);
  };
  const auto read_int8 = [&](size_t row, std::int8_t* integers) {
    const float scale = weight.read_int8_row(row, integers);
    w.check_int8("weight", {integers, in}, scale);
    return scale;
  };
  Linear linear = w.precision_of(weight) == Precision::kF32 ? pack_linear(out, in, read, bias)
                  : weight.is_int8() ? pack_int8_linear(out, in, read_int8, bias)
                                     : pack_int8_linear(out, in, quantizing(in, read), bias);
  w.release(weight);
  return linear;
}

Norm bind_norm(const WeightScope& w, size_t width, const ModelConfig& c) {
  Norm norm{.kind = c.encoder.norm, .eps = c.encoder.norm_eps, .weight = w.vector("weight", width)};
  if (c.encoder.norm == NormKind::kLayerNorm)
    norm.bias = w.has("bias") ? w.vector("bias", width) : std::vector<float>(width);
  return norm;
}

Attention bind_attention(const WeightScope& w, const ModelConfig& c, size_t layer) {
  const size_t d = c.encoder.head_width();
  const bool differential = c.encoder.attention == AttentionKind::kDifferential;
  const size_t normed = differential ? d / 2 : d;
  Attention attention;
  attention.heads = c.encoder.heads;
  attention.key_value_heads = c.encoder.key_value_heads;
  attention.qkv = bind_linear(w / "qkv", (c.encoder.heads + 2 * c.encoder.key_value_heads) * d,
                              c.encoder.width);
  attention.project = bind_linear(w / "proj", c.encoder.width, c.encoder.heads * d);
  if (c.encoder.qk_norm) {
    attention.query_norm = bind_norm(w / "q_norm", normed, c);
    attention.key_norm = bind_norm(w / "k_norm", normed, c);
  }
  if (c.encoder.attention_norm)
    attention.output_norm = bind_norm(w / "norm", c.encoder.heads * d, c);
  if (differential) attention.differential = bind_differential(w, c, layer);
  return attention;
}

Mlp bind_mlp(const WeightScope& w, const ModelConfig& c) {
  Mlp mlp;
  mlp.activation = c.encoder.activation;
  mlp.gated = c.encoder.gated_mlp;
  mlp.expand = bind_linear(w / "fc1", c.encoder.mlp_rows(), c.encoder.width);
  if (c.encoder.mlp_norm) mlp.norm = bind_norm(w / "norm", c.encoder.mlp_width, c);
  mlp.contract = bind_linear(w / "fc2", c.encoder.width, c.encoder.mlp_width);
  return mlp;
}

Block bind_block(const WeightScope& w, const ModelConfig& c, size_t layer) {
  Block block{.kind = c.encoder.block, .attention = {}, .mlp = {}};
  const bool parallel = c.encoder.block == BlockKind::kParallel;
  for (size_t j = 0; j < c.encoder.branches; ++j) {
    const WeightScope branch = c.encoder.branches == 1 ? w : w / ("branches." + std::to_string(j));
    block.attention.push_back({.norm = bind_norm(branch / "norm1", c.encoder.width, c),
                               .attention = bind_attention(branch / "attn", c, layer),
                               .layer_scale = bind_layer_scale(branch / "ls1", c)});
    MlpBranch mlp{.norm = {}, .mlp = bind_mlp(branch / "mlp", c), .layer_scale = {}};
    if (!parallel) {  // a parallel block has one norm and one layer scale for both
      mlp.norm = bind_norm(branch / "norm2", c.encoder.width, c);
      mlp.layer_scale = bind_layer_scale(branch / "ls2", c);
    }
    block.mlp.push_back(std::move(mlp));
  }
  return block;
}

Head bind_head(const WeightScope& w, const ModelConfig& c) {
  Head head;
  head.pooling = c.head.pooling;
  head.prefix = c.embedding.prefix.size();
  head.pool_prefix = c.head.pool_prefix;
  if (c.head.final_norm) head.final_norm = bind_norm(w / "norm", c.encoder.width, c);
  if (c.head.pooled_norm) head.pooled_norm = bind_norm(w / "fc_norm", c.pooled_width(), c);
  if (c.head.pooling == Pooling::kAttention)
    head.attention_pool = bind_attention_pool(w / "attn_pool", c);
  const size_t features = c.classifier_inputs();
  if (c.head.pre_logits != 0)
    head.pre_logits = bind_linear(w / "pre_logits", c.head.pre_logits, c.pooled_width());
  if (c.head.classes != 0) head.classifier = bind_linear(w / "head", c.head.classes, features);
  head.distills = c.head.distilled_head;
  if (c.head.distilled_head && c.head.classes != 0)
    head.distilled = bind_linear(w / "head_dist", c.head.classes, features);
  return head;
}

}  // namespace vit
