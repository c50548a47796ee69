/// The text tower: token ids to features, on the shared encoder.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "vit/base/text_config.h"
#include "vit/encoder/encoder.h"
#include "vit/text/tokenizer.h"
#include "weights/tensor.h"

namespace vit::text {

/// Immutable after load; shared by threads.
struct TextTower {
  TextConfig config;
  weights::Weight token_table;  ///< [V, D], a view: the checkpoint must live on
  Matrix positions;             ///< [L, D]
  Encoder encoder;
  Norm norm;
  Linear projection;
  Isa isa = Isa::kBaseline;  ///< that its linear layers are packed for, and that it runs on
};

/// Every activation of one worker.
struct TextWorkspace {
  Workspace encoder;
  Matrix tokens;
  Matrix mask;
  Matrix pooled;
};

/// Stages of one text, handed out as they are reached.
struct TextTaps {
  std::function<void(ConstMatrixView tokens)> tokens;  ///< what enters block 0
  EncoderTaps encoder;
  std::function<void(ConstMatrixView pooled)> pooled;  ///< [1, D], after the norm
};

/// The position whose token becomes the feature.
size_t pooled_position(const TextConfig& config, const TokenSequence& text);

/// The feature of one text, [E], not normalised. `text` has config.context ids.
void encode_text(const TextTower& tower, const TokenSequence& text, TextWorkspace& workspace,
                 std::span<float> feature, const TextTaps* taps = nullptr);

/// The features of many texts, [n, E], as encode_text() gives them up to rounding. Beginnings that
/// texts share are computed once where the tower is causal: texts run as a tree of tokens, each of
/// which sees the tokens on its way to the root.
struct TextBatch {
  std::span<const TokenSequence> texts;
  ThreadPool* pool = nullptr;
  std::function<void(size_t done)> progress{};  ///< texts done so far; called by any thread
};
Matrix encode_texts(const TextTower& tower, const TextBatch& batch);

}  // namespace vit::text
