/// What differs between one text tower and the next, as plain data.
#pragma once

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

}  // namespace vit
