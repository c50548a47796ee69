/// Encodings to the model's answer: norm, pool, project.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "vit/encoder/attention.h"
#include "vit/encoder/mlp.h"

namespace vit {

/// SigLIP's MAP head: a learned query attends to the tokens; x = attention, then x += mlp(norm(x)).
struct AttentionPool {
  Matrix latent;  ///< [1, D]
  Attention attention;
  Norm norm;
  Mlp mlp;
};

struct Head {
  Norm final_norm;  ///< on the tokens, or none
  Pooling pooling = Pooling::kClass;
  size_t prefix = 1;         ///< tokens in front of the patches
  bool pool_prefix = false;  ///< these are pooled too
  std::optional<AttentionPool> attention_pool;
  Norm pooled_norm;       ///< on the pooled features, or none
  Linear pre_logits;      ///< followed by tanh; empty: none
  Linear classifier;      ///< empty: the pooled features are the answer
  Linear distilled;       ///< the distillation token's own classifier; empty: none
  bool distills = false;  ///< the answer is the mean of both tokens' logits, or of their features
};

/// What pooling needs beside its tokens.
struct HeadScratch {
  std::span<const float> sizes{};  ///< how many tokens each stands for; empty: each for itself
  std::vector<float> pooled;
  std::vector<float> hidden;
};

/// answer() reads no more than the first so many tokens; 0: it reads all.
size_t tokens_read(const Head& head);

/// tokens [T, D], or those read of them, are normalised in place; `output` has the length of the
/// model's answer. `attention` [H, pooled tokens], if not empty, receives the attention pool's own
/// weights.
void answer(const Head& head, MatrixView tokens, Workspace& workspace, HeadScratch& scratch,
            std::span<float> output, MatrixView attention = {});

WorkspaceShape workspace_shape(const Head& head, size_t tokens);

}  // namespace vit
