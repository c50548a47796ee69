#include "weights/demand.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "vit/base/error.h"

namespace vit::weights {
namespace {

/// Hands over one tensor after the other.
class List {
 public:
  List(const ModelConfig& config, std::function<void(Demand)> use)
      : c(config), use_(std::move(use)) {}

  const ModelConfig& c;

  void add(std::string name, Shape shape, bool optional = false) {
    use_({std::move(name), std::move(shape), optional});
  }
  void linear(const std::string& name, size_t outputs, size_t inputs, bool bias) {
    add(name + ".weight", {outputs, inputs});
    if (bias) add(name + ".bias", {outputs});
  }
  void norm(const std::string& name, size_t width) {
    add(name + ".weight", {width});
    if (c.encoder.norm == NormKind::kLayerNorm) add(name + ".bias", {width});
  }

 private:
  std::function<void(Demand)> use_;
};

void demand_tokens(List& list) {
  const ModelConfig& c = list.c;
  list.add("patch_embed.proj.weight", {c.encoder.width, c.embedding.channels,
                                       c.embedding.patch_height, c.embedding.patch_width});
  if (c.embedding.patch_bias) list.add("patch_embed.proj.bias", {c.encoder.width});
  if (c.embedding.patch_norm) list.norm("patch_embed.norm", c.encoder.width);

  const auto count = [&](PrefixToken token) {
    return static_cast<size_t>(
        std::count(c.embedding.prefix.begin(), c.embedding.prefix.end(), token));
  };
  if (count(PrefixToken::kClass) != 0) list.add("cls_token", {1, 1, c.encoder.width});
  if (count(PrefixToken::kDistillation) != 0) list.add("dist_token", {1, 1, c.encoder.width});
  if (const size_t registers = count(PrefixToken::kRegister))
    list.add("reg_token", {1, registers, c.encoder.width});
  if (c.embedding.positions == PositionKind::kLearned) {
    const size_t covered = c.embedding.covered_prefix();
    list.add("pos_embed", {1, covered + c.embedding.position_grid.count(), c.encoder.width});
  }
  if (c.embedding.norm_before_blocks) list.norm("norm_pre", c.encoder.width);
}

void demand_attention(List& list, const std::string& name) {
  const ModelConfig& c = list.c;
  const size_t d = c.encoder.head_width();
  const bool differential = c.encoder.attention == AttentionKind::kDifferential;
  list.linear(name + ".qkv", c.encoder.qkv_rows(), c.encoder.width, c.encoder.qkv_bias);
  if (c.encoder.qk_norm) {
    list.norm(name + ".q_norm", differential ? d / 2 : d);
    list.norm(name + ".k_norm", differential ? d / 2 : d);
  }
  if (differential) {
    // Either four vectors or two numbers, whichever the file has: check_demands sees to it.
    for (const auto lambda : {"q1", "k1", "q2", "k2"})
      list.add(name + ".lambda_" + lambda, {d / 2}, true);
    for (const auto lambda : {"a", "b"}) list.add(name + ".lambda_" + lambda, {}, true);
    list.add(name + ".sub_norm.weight", {d});
  }
  if (c.encoder.attention_norm) list.norm(name + ".norm", c.encoder.width);
  list.linear(name + ".proj", c.encoder.width, c.encoder.heads * d, c.encoder.projection_bias);
}

void demand_mlp(List& list, const std::string& name) {
  const ModelConfig& c = list.c;
  const bool parallel = c.encoder.block == BlockKind::kParallel;

  list.linear(name + ".fc1", c.encoder.mlp_rows(), c.encoder.width, c.encoder.mlp_bias || parallel);
  if (c.encoder.mlp_norm) list.norm(name + ".norm", c.encoder.mlp_width);
  list.add(name + ".fc2.weight", {c.encoder.width, c.encoder.mlp_width});
  // A projection fused with the attention's has one bias for both.
  if (c.encoder.mlp_bias) list.add(name + ".fc2.bias", {c.encoder.width}, parallel);
}

void demand_block(List& list, const std::string& name) {
  const ModelConfig& c = list.c;
  list.norm(name + ".norm1", c.encoder.width);
  demand_attention(list, name + ".attn");
  if (c.encoder.layer_scale) list.add(name + ".ls1.gamma", {c.encoder.width});
  if (c.encoder.block != BlockKind::kParallel) list.norm(name + ".norm2", c.encoder.width);
  demand_mlp(list, name + ".mlp");
  if (c.encoder.layer_scale && c.encoder.block != BlockKind::kParallel)
    list.add(name + ".ls2.gamma", {c.encoder.width});
}

void demand_head(List& list) {
  const ModelConfig& c = list.c;
  if (c.head.final_norm) list.norm("norm", c.encoder.width);
  if (c.head.pooling == Pooling::kAttention) {
    list.add("attn_pool.latent", {1, 1, c.encoder.width});
    list.linear("attn_pool.q", c.encoder.width, c.encoder.width, true);
    list.linear("attn_pool.kv", 2 * c.encoder.width, c.encoder.width, true);
    list.linear("attn_pool.proj", c.encoder.width, c.encoder.width, true);
    list.norm("attn_pool.norm", c.encoder.width);
    list.linear("attn_pool.mlp.fc1", c.encoder.mlp_width, c.encoder.width, true);
    list.linear("attn_pool.mlp.fc2", c.encoder.width, c.encoder.mlp_width, true);
  }
  if (c.head.pooled_norm) list.norm("fc_norm", c.pooled_width());
  if (c.head.pre_logits != 0) list.linear("pre_logits", c.head.pre_logits, c.pooled_width(), true);
  if (c.head.classes == 0) return;
  const size_t features = c.classifier_inputs();
  list.linear("head", c.head.classes, features, c.head.head_bias);
  if (c.head.distilled_head) list.linear("head_dist", c.head.classes, features, c.head.head_bias);
}

/// Four vectors or two numbers, but one of them whole. `name` ends in "lambda_q1".
void check_lambdas(const std::string& name, const WeightMap& weights, const std::string& where) {
  const std::string stem = name.substr(0, name.size() - 2);
  const bool numbers = weights.contains(stem + "a") || weights.contains(stem + "b");
  const std::vector<std::string> needed = numbers
                                              ? std::vector<std::string>{"a", "b"}
                                              : std::vector<std::string>{"q1", "k1", "q2", "k2"};
  for (const auto& lambda : needed)
    if (!weights.contains(stem + lambda)) fail(where, ": tensor '", stem, lambda, "' is missing");
}

void check_demand(const Demand& demand, const WeightMap& weights, const std::string& where) {
  const auto& [name, shape, optional] = demand;
  if (name.ends_with(".lambda_q1")) check_lambdas(name, weights, where);
  const auto found = weights.find(name);
  if (found == weights.end()) {
    if (!optional) fail(where, ": tensor '", name, "' is missing");
  } else if (found->second.shape() != shape) {
    fail(where, ": tensor '", name, "' has shape ", to_string(found->second.shape()), ", expected ",
         to_string(shape));
  }
}

void list_demands(const ModelConfig& config, std::function<void(Demand)> use) {
  List list(config, std::move(use));
  demand_tokens(list);
  for (size_t i = 0; i < config.encoder.depth; ++i) {
    const std::string block = "blocks." + std::to_string(i);
    if (config.encoder.branches == 1) {
      demand_block(list, block);
    } else {
      for (size_t j = 0; j < config.encoder.branches; ++j)
        demand_block(list, block + ".branches." + std::to_string(j));
    }
  }
  demand_head(list);
}

}  // namespace

std::vector<Demand> demands(const ModelConfig& config) {
  std::vector<Demand> all;
  list_demands(config, [&](Demand demand) { all.push_back(std::move(demand)); });
  return all;
}

void check_demands(const ModelConfig& config, const WeightMap& weights, const std::string& where) {
  list_demands(config, [&](const Demand& demand) { check_demand(demand, weights, where); });
}

}  // namespace vit::weights
