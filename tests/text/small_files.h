/// Tokenizer files with a few pieces, small enough to work out their ids by hand.
#pragma once

#include <string>
#include <vector>

namespace vit::text::test {

/// CLIP's list of merges, without gzip: "c a", "ca t</w>", "d o", "do g</w>".
std::string clip_merges();
/// The number of ids that go with it: 512 bytes, 4 merges, start and end.
inline constexpr size_t kClipSize = 518;

std::string gzip(const std::string& text);

/// Hugging Face's CLIP on the merges above: vocab.json, merges.txt, tokenizer.json.
std::string clip_vocab_json();
std::string clip_merges_txt();
std::string clip_tokenizer_json();

/// A unigram model as tokenizer.json: <pad> 0, </s> 1, <unk> 2, then pieces with scores.
std::string unigram_tokenizer_json();
/// Byte pairs with spaces as U+2581 and single bytes, as Gemma has them.
std::string byte_fallback_tokenizer_json();
/// BERT's: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, …
std::string bert_vocabulary();
std::string bert_tokenizer_json();

struct SentencePiece {
  std::string text;
  float score = 0.0f;
  int kind = 1;  ///< 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte
};
/// A SentencePiece model file; `kind` 1 is unigram, 2 byte pairs.
std::string sentencepiece_model(int kind, const std::vector<SentencePiece>& pieces,
                                bool byte_fallback = false, bool dummy_prefix = true);
/// The pieces of unigram_tokenizer_json().
std::vector<SentencePiece> unigram_pieces();

}  // namespace vit::text::test
