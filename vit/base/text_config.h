/// What differs between one text tower and the next, as plain data.
#pragma once

#include <cstdint>
#include <string_view>

#include "vit/base/config.h"

namespace vit {

/// What is done to a text before its tokenizer sees it.
enum class TextCleaning {
  kNone,
  kLower,            ///< Hugging Face's SigLIP 2: lower case
  kRepairLower,      ///< OpenAI, OpenCLIP "lower": repair, HTML, whitespace, lower case
  kRepairSpaces,     ///< OpenCLIP "whitespace": the same without lower case
  kRepairCanonical,  ///< OpenCLIP "canonicalize": repair, HTML, '_' to space, no punctuation
  kCanonical,        ///< Hugging Face's SigLIP: lower case, no punctuation, whitespace
};

/// Which token becomes the feature of a text.
enum class TextPooling {
  kHighestId,  ///< CLIP: the end token has the highest id
  kFirstEnd,   ///< the first token whose id is `end_token`
  kLast,       ///< the last position, padding or not: SigLIP
  kFirst,
};

/// Whose tokenizer a model was trained with.
enum class TokenizerKind {
  kOpenAiClip,  ///< CLIP's vocabulary, cleaned as OpenAI does
  kOpenClip,    ///< the same; special tokens are spelt differently
  kFiles,       ///< the tokenizer files beside the weights
};

struct TextConfig {
  EncoderConfig encoder{.norm_eps = 1e-5f};
  size_t vocabulary = 0;
  size_t context = 0;   ///< positions, start and end tokens included
  size_t features = 0;  ///< length of the feature that texts share with images
  bool causal = true;
  TextPooling pooling = TextPooling::kHighestId;
  std::uint32_t end_token = 0;  ///< for TextPooling::kFirstEnd
  bool projection_bias = false;
  TokenizerKind tokenizer = TokenizerKind::kFiles;
  TextCleaning cleaning = TextCleaning::kNone;

  bool operator==(const TextConfig&) const = default;
};

/// Throws an Error naming the first field that is impossible. `where` opens the message.
void validate(const TextConfig& config, std::string_view where);

}  // namespace vit
