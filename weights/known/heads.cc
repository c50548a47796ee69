#include "weights/known/heads.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "vit/base/error.h"
#include "weights/known/architectures.h"

namespace vit::weights {
namespace {

std::string listed(const std::set<size_t>& numbers) {
  std::string text;
  for (const size_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

using Same = bool (*)(const ModelConfig& a, const ModelConfig& b);

/// What makes two models relatives, the most telling first.
constexpr Same kKinship[] = {
    [](const ModelConfig& a, const ModelConfig& b) {
      return a.encoder.width == b.encoder.width && a.encoder.norm == b.encoder.norm &&
             a.encoder.gated_mlp == b.encoder.gated_mlp &&
             a.encoder.attention == b.encoder.attention &&
             (a.encoder.block == BlockKind::kParallel) == (b.encoder.block == BlockKind::kParallel);
    },
    [](const ModelConfig& a, const ModelConfig& b) { return a.encoder.depth == b.encoder.depth; },
    [](const ModelConfig& a, const ModelConfig& b) {
      return a.embedding.prefix.empty() == b.embedding.prefix.empty();
    },
    [](const ModelConfig& a, const ModelConfig& b) { return a.head.pooling == b.head.pooling; },
};

std::set<size_t> heads_of(const std::vector<ModelConfig>& models) {
  std::set<size_t> heads;
  for (const auto& model : models) heads.insert(model.encoder.heads);
  return heads;
}

/// The head counts of the nearest relatives: each kind of kinship narrows them, as long as it
/// leaves any.
std::set<size_t> known_heads(const ModelConfig& config) {
  std::vector<ModelConfig> relatives;
  for (const auto& known : architectures()) relatives.push_back(config_of(known.name));
  for (const auto same : kKinship) {
    std::vector<ModelConfig> nearer;
    std::copy_if(relatives.begin(), relatives.end(), std::back_inserter(nearer),
                 [&](const ModelConfig& known) { return same(known, config); });
    if (nearer.empty() && same == kKinship[0]) return {};
    if (nearer.empty()) break;
    relatives = std::move(nearer);
    if (heads_of(relatives).size() == 1) break;
  }
  return heads_of(relatives);
}

}  // namespace

size_t usual_heads(const ModelConfig& config, const std::string& where) {
  const std::set<size_t> known = known_heads(config);
  if (known.size() == 1) return *known.begin();
  if (!known.empty())
    fail_at(where, "nothing says how many attention heads the model has; known models of width ",
            config.encoder.width, " have ", listed(known), "; give the number of heads");

  std::set<size_t> divisors;
  for (size_t heads = 1; heads <= 64 && heads <= config.encoder.width; ++heads)
    if (config.encoder.width % heads == 0) divisors.insert(heads);
  fail_at(where, "nothing says how many attention heads the model has; its width ",
          config.encoder.width, " can be split into ", listed(divisors),
          "; give the number of heads");
}

}  // namespace vit::weights
