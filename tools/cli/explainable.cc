#include "tools/cli/explainable.h"

#include "tools/output/format.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

/// Numbers of four bytes: ViT-H/14 at 518 pixels has 961 million.
constexpr size_t kMostAttentionWeights = size_t{1} << 30;

}  // namespace

bool explainable(const ModelConfig& config, size_t merge_tokens) {
  return config.head.classes != 0 && merge_tokens == 0 &&
         gradient::without_backward_pass(config).empty();
}

void check_attention_size(const Classifier& classifier) {
  const ModelConfig& config = classifier.config();
  const size_t tokens = config.embedding.tokens(),
               heads = config.encoder.heads * config.encoder.branches;
  // In floating point: the product may not fit into 64 bits.
  const double weights = static_cast<double>(config.encoder.depth) * static_cast<double>(heads) *
                         static_cast<double>(tokens) * static_cast<double>(tokens);
  if (weights <= static_cast<double>(kMostAttentionWeights)) return;
  fail_at(classifier.name(), "its attention at this image size has ", config.encoder.depth,
          " layers x ", heads, " heads x ", tokens, " x ", tokens, " tokens, which would take ",
          formatted("%.1f GB", weights * sizeof(float) / 1e9), "; the limit is ",
          formatted("%.1f GB", static_cast<double>(kMostAttentionWeights) * sizeof(float) / 1e9),
          "; choose a smaller --image-size");
}

}  // namespace vit::tools
