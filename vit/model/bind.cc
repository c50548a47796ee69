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
double lambda_term(const WeightScope& w, const std::string& index, const std::string& letter) {
  if (w.has("lambda_" + letter)) return std::exp(w.scalar("lambda_" + letter));
  const std::vector<float> q = w.vector("lambda_q" + index);
  const std::vector<float> k = w.vector("lambda_k" + index);
  return std::exp(std::inner_product(q.begin(), q.end(), k.begin(), 0.0));
}

Differential bind_differential(const WeightScope& w, size_t layer) {
  const float initial = initial_lambda(layer);
  const double lambda = lambda_term(w, "1", "a") - lambda_term(w, "2", "b");
  w.check_lambda(static_cast<float>(lambda));
  constexpr float kSubNormEps = 1e-5f;  // fixed in the reference, whatever the model's own
  return {
      .lambda = static_cast<float>(lambda) + initial,
      .initial = initial,
      .norm = {
          .kind = NormKind::kRmsNorm, .eps = kSubNormEps, .weight = w.vector("sub_norm.weight")}};
}

std::vector<float> bind_layer_scale(const WeightScope& w, const EncoderConfig& c) {
  return c.layer_scale ? w.vector("gamma") : std::vector<float>{};
}

/// Where keys have no bias, theirs is 0.
Linear bind_qkv(const WeightScope& w, const EncoderConfig& c) {
  if (!c.qkv_bias || c.key_bias) return bind_linear(w / "qkv");
  std::vector<float> bias = w.vector("q_bias");
  const std::vector<float> values = w.vector("v_bias");
  bias.resize(bias.size() + values.size(), 0.0f);
  bias.insert(bias.end(), values.begin(), values.end());
  return bind_linear(w / "qkv", bias);
}

Attention bind_attention(const WeightScope& w, const EncoderConfig& c, size_t layer) {
  Attention attention;
  attention.heads = c.heads;
  attention.key_value_heads = c.key_value_heads;
  attention.qkv = bind_qkv(w, c);
  attention.project = bind_linear(w / "proj");
  if (c.qk_norm) {
    attention.query_norm = bind_norm(w / "q_norm", c);
    attention.key_norm = bind_norm(w / "k_norm", c);
  }
  if (c.attention_norm) attention.output_norm = bind_norm(w / "norm", c);
  if (c.attention == AttentionKind::kTalkingHeads)
    attention.talking = {.before = w.matrix("proj_l.weight"),
                         .after = w.matrix("proj_w.weight"),
                         .after_bias = w.vector("proj_w.bias")};
  if (c.attention == AttentionKind::kDifferential)
    attention.differential = bind_differential(w, layer);
  return attention;
}

Mlp bind_mlp(const WeightScope& w, const EncoderConfig& c) {
  Mlp mlp;
  mlp.activation = c.activation;
  mlp.gated = c.gated_mlp;
  mlp.expand = bind_linear(w / "fc1");
  if (c.mlp_norm) mlp.norm = bind_norm(w / "norm", c);
  mlp.contract = bind_linear(w / "fc2");
  return mlp;
}

AttentionPool bind_attention_pool(const WeightScope& w, const EncoderConfig& c,
                                  const HeadConfig& head) {
  AttentionPool pool;
  pool.latent = w.matrix("latent");
  pool.attention.query = bind_linear(w / "q");
  pool.attention.key_value = bind_linear(w / "kv");
  pool.attention.project = bind_linear(w / "proj");
  pool.attention.heads = head.pool_heads != 0 ? head.pool_heads : c.heads;
  pool.attention.key_value_heads = pool.attention.heads;
  pool.norm = bind_norm(w / "norm", c);
  // A plain MLP even where the blocks' own are gated.
  pool.mlp.activation = c.activation;
  pool.mlp.expand = bind_linear(w / "mlp.fc1");
  pool.mlp.contract = bind_linear(w / "mlp.fc2");
  return pool;
}

ClassLayer bind_class_layer(const WeightScope& w, const EncoderConfig& c) {
  ClassLayer layer;
  layer.norm1 = bind_norm(w / "norm1", c);
  layer.attention.query = bind_linear(w / "attn.q");
  layer.attention.key_value = bind_linear(w / "attn.kv");
  layer.attention.project = bind_linear(w / "attn.proj");
  layer.attention.heads = layer.attention.key_value_heads = c.heads;
  layer.layer_scale1 = bind_layer_scale(w / "ls1", c);
  layer.norm2 = bind_norm(w / "norm2", c);
  layer.mlp.activation = c.activation;
  layer.mlp.expand = bind_linear(w / "mlp.fc1");
  layer.mlp.contract = bind_linear(w / "mlp.fc2");
  layer.layer_scale2 = bind_layer_scale(w / "ls2", c);
  return layer;
}

ClassLayers bind_class_layers(const WeightScope& w, const ModelConfig& c) {
  ClassLayers layers{.token = w.matrix("cls_token"), .layers = {}};
  for (size_t i = 0; i < c.head.class_layers; ++i)
    layers.layers.push_back(bind_class_layer(w / ("class_blocks." + std::to_string(i)), c.encoder));
  return layers;
}

}  // namespace

std::string WeightScope::path(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
}

WeightScope WeightScope::operator/(std::string_view name) const {
  return WeightScope(*checkpoint_, isa_, path(name), precision_);
}

bool WeightScope::has(std::string_view name) const {
  return checkpoint_->find(path(name)) != nullptr;
}

void WeightScope::check_int8(std::string_view name, std::span<const std::int8_t> row,
                             float scale) const {
  for (const std::int8_t value : row)
    if (std::abs(value) > kLargestInt8Weight)
      fail_at(checkpoint_->path, "tensor '", path(name), "' holds ", static_cast<int>(value),
              ", expected integers of at most ", kLargestInt8Weight, " either way");
  const std::vector<int> wide(row.begin(), row.end());
  if (const int sum = largest_int8_sum<int>(wide); sum > kLargestInt8Sum)
    fail_at(checkpoint_->path, "tensor '", path(name), "' has four integers that add up to ", sum,
            ", expected at most ", kLargestInt8Sum, "; convert the original again");
  if (!(scale >= 0.0f) || !std::isfinite(scale))
    fail_at(checkpoint_->path, "tensor '", path(name), "' has a scale of ", scale,
            ", expected a finite number from 0");
}

void WeightScope::check_lambda(float lambda) const {
  if (!std::isfinite(lambda))
    fail_at(checkpoint_->path, "the lambdas of '", prefix_, "' give ", lambda,
            ", expected a finite number");
}

void WeightScope::read_rows(std::string_view name, const weights::Weight& weight, size_t first,
                            size_t count, float* out) const {
  weight.read_rows(first, count, out);
  const std::span<const float> numbers(out, count * weight.cols());
  if (weights::first_not_finite(numbers) != numbers.size())  // names are made for errors only
    weights::check_finite(weight, first, numbers, {checkpoint_->path, path(name)});
}

std::vector<float> WeightScope::vector(std::string_view name) const {
  const weights::Weight& weight = at(name);
  std::vector<float> values(weight.size());
  read_rows(name, weight, 0, weight.rows(), values.data());
  return values;
}

Matrix WeightScope::matrix(std::string_view name) const {
  const weights::Weight& weight = at(name);
  const size_t cols = weight.shape().back();
  Matrix values(weight.size() / cols, cols);
  read_rows(name, weight, 0, weight.rows(), values.data());
  return values;
}

Precision WeightScope::precision_of(const weights::Weight& weight) const {
  if (precision_) return *precision_;
  return weight.is_int8() ? Precision::kInt8 : Precision::kF32;
}

Linear bind_linear(const WeightScope& w) {
  return bind_linear(w, w.has("bias") ? w.vector("bias") : std::vector<float>{});
}

Linear bind_linear(const WeightScope& w, const std::vector<float>& bias) {
  const weights::Weight& weight = w.at("weight");
  const size_t out = weight.rows(), in = weight.cols();
  const auto read = [&](size_t first, size_t count, float* rows) {
    w.read_rows("weight", weight, first, count, rows);
  };
  const auto read_int8 = [&](size_t row, std::int8_t* integers) {
    const float scale = weight.read_int8_row(row, integers);
    w.check_int8("weight", {integers, in}, scale);
    return scale;
  };
  Linear linear =
      w.precision_of(weight) == Precision::kF32 ? pack_linear(out, in, read, bias, w.isa())
      : weight.is_int8() ? pack_int8_linear(out, in, read_int8, bias, w.isa())
                         : pack_int8_linear(out, in, quantizing(in, read), bias, w.isa());
  w.release(weight);
  return linear;
}

Norm bind_norm(const WeightScope& w, const EncoderConfig& c) {
  Norm norm{.kind = c.norm, .eps = c.norm_eps, .weight = w.vector("weight")};
  if (c.norm == NormKind::kLayerNorm) norm.bias = w.vector("bias");
  return norm;
}

Block bind_block(const WeightScope& w, const EncoderConfig& c, size_t layer) {
  Block block{.kind = c.block, .attention = {}, .mlp = {}};
  const bool parallel = c.block == BlockKind::kParallel;
  for (size_t j = 0; j < c.branches; ++j) {
    const WeightScope branch = c.branches == 1 ? w : w / ("branches." + std::to_string(j));
    block.attention.push_back({.norm = bind_norm(branch / "norm1", c),
                               .attention = bind_attention(branch / "attn", c, layer),
                               .layer_scale = bind_layer_scale(branch / "ls1", c)});
    MlpBranch mlp{.norm = {}, .mlp = bind_mlp(branch / "mlp", c), .layer_scale = {}};
    if (!parallel) {  // a parallel block has one norm and one layer scale for both
      mlp.norm = bind_norm(branch / "norm2", c);
      mlp.layer_scale = bind_layer_scale(branch / "ls2", c);
    }
    block.mlp.push_back(std::move(mlp));
  }
  return block;
}

Head bind_head(const WeightScope& w, const ModelConfig& c) {
  Head head;
  head.pooling = c.head.pooling;
  head.layers = c.head.pooled_layers;
  head.first_layer = c.first_pooled_layer();
  head.prefix = c.embedding.prefix.size();
  head.pool_prefix = c.head.pool_prefix;
  if (c.head.class_layers != 0) head.class_layers = bind_class_layers(w, c);
  if (c.head.final_norm) head.final_norm = bind_norm(w / "norm", c.encoder);
  if (c.head.pooled_norm) head.pooled_norm = bind_norm(w / "fc_norm", c.encoder);
  if (c.head.pooling == Pooling::kAttention)
    head.attention_pool = bind_attention_pool(w / "attn_pool", c.encoder, c.head);
  if (c.head.pre_logits != 0) head.pre_logits = bind_linear(w / "pre_logits");
  head.pre_logits_tanh = c.head.pre_logits_tanh;
  head.unit_features = c.head.unit_features;
  head.distills = c.head.distilled_head;
  if (c.head.classes == 0) return head;
  head.classifier = bind_linear(w / "head");
  if (c.head.distilled_head) head.distilled = bind_linear(w / "head_dist");
  return head;
}

}  // namespace vit
