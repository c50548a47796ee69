/// SentencePiece's model files ("spiece.model", "tokenizer.model").
#pragma once

#include <string>
#include <string_view>

#include "vit/text/tokenizer.h"

namespace vit::text {

/// The tokenizer in a model file's bytes. Texts end with its end token. Throws an Error saying
/// what is wrong with the file; `where` opens the message.
Tokenizer read_sentencepiece(std::string_view bytes, const std::string& where);

}  // namespace vit::text
