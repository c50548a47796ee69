/// CLIP's byte-pair vocabulary, from any of the files that hold it.
#pragma once

#include <filesystem>
#include <string_view>

#include "vit/text/tokenizer.h"

namespace vit::text {

/// The name under which OpenAI publishes the list of merges.
inline constexpr std::string_view kClipVocabularyName = "bpe_simple_vocab_16e6.txt.gz";

/// How the start and end tokens are spelt inside a text.
enum class ClipSpecials { kOpenAi, kOpenClip };

/// The tokenizer of OpenAI and OpenCLIP, from the list of merges. Ids: 256 bytes, the same at the
/// end of a word, merges in their order, start, end; `size` ids in all, which may be fewer than the
/// file has. Texts are cleaned as in TextCleaning::kRepairLower and padded with 0.
Tokenizer read_clip_merges(const std::filesystem::path& gzip, size_t size, ClipSpecials specials);

/// Hugging Face's CLIP tokenizer from vocab.json and merges.txt: what its tokenizer.json says.
Tokenizer read_clip_vocabulary(const std::filesystem::path& vocabulary,
                               const std::filesystem::path& merges);

/// Any tokenizer on CLIP's vocabulary, made to clean, split and pad texts as OpenCLIP's own.
Tokenizer as_open_clip(Tokenizer tokenizer, ClipSpecials specials);

/// GPT-2's tokenizer from its list of merges: no cleaning, no start and end tokens.
Tokenizer read_gpt2_merges(const std::filesystem::path& gzip);

/// BERT's tokenizer from its vocabulary, one piece a line: [CLS] and [SEP] around the text.
Tokenizer read_bert_vocabulary(const std::filesystem::path& path, bool lowercase);

}  // namespace vit::text
