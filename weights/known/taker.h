/// Reads timm's constructor arguments, given as text, one by one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "vit/base/config.h"
#include "weights/known/architectures.h"

namespace vit::weights {

/// Takes arguments out one by one; what is left at the end was not understood.
class Taker {
 public:
  Taker(const Arguments& arguments, std::string where)
      : left_(arguments), where_(std::move(where)) {}

  /// Said, but to be nothing: None in Python, null in JSON.
  bool says_none(std::string_view name) const;
  /// Nothing if absent or none.
  std::optional<std::string> text(std::string_view name);
  size_t size(std::string_view name, size_t otherwise);
  std::optional<double> number(std::string_view name);
  std::optional<bool> flag(std::string_view name);
  /// "224" or "64,96": height and width.
  std::optional<std::pair<size_t, size_t>> pair(std::string_view name);

  /// An argument that the toolkit knows with one value only. Throws an Error where it has another.
  void expect(std::string_view name, std::string_view value);

  /// Throws an Error if an argument is left that changes the model.
  void finish();

  [[noreturn]] void refuse(std::string_view name, std::string_view got,
                           std::string_view expected) const;
  const std::string& where() const { return where_; }

 private:
  size_t to_size(std::string_view name, const std::string& text) const;

  Arguments left_;
  std::string where_;
};

struct Norm {
  NormKind kind = NormKind::kLayerNorm;
  float eps = 1e-6f;
};

/// "rmsnorm(eps=1e-05)", "LayerNorm", "layernorm2d" …; nothing if absent.
std::optional<Norm> take_norm(Taker& take, std::string_view argument);

/// `name` register tokens behind the class token, if there is one.
void take_prefix(Taker& take, bool class_token, std::string_view name, ModelConfig& c);

/// img_size, patch_size and in_chans.
void take_image(Taker& take, ModelConfig& c);

/// embed_dim, depth, num_heads and norm_layer.
void take_sizes(Taker& take, ModelConfig& c);

/// What the blocks of vision_transformer.py and naflexvit.py say alike; `attention_norm` is the
/// name of the argument that differs.
void take_block_parts(Taker& take, std::string_view attention_norm, ModelConfig& c);

/// global_pool and num_classes; `otherwise` is the pooling of the class. Returns timm's word.
std::string take_pooling(Taker& take, std::string_view otherwise, ModelConfig& c);

/// attn_pool_num_heads and attn_pool_mlp_ratio, where the MLP's width is known.
void take_attention_pool(Taker& take, double mlp_ratio, ModelConfig& c);

/// As Python's int(width * ratio): the product is cut off.
size_t times_ratio(size_t width, double ratio);

}  // namespace vit::weights
