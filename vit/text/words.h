/// Text to the words that byte-pair encodings and WordPiece work on.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vit::text {

using Words = std::vector<std::u32string>;

/// kFolded: as a regular expression that ignores case. In a text of lower case that makes one
/// difference, the long s (U+017F), which is taken for an s.
enum class Case { kExact, kFolded };

/// CLIP's words: one of `specials`, a contraction ("'s"), letters, a single digit, or a run of
/// anything else; whitespace is dropped.
Words clip_words(std::u32string_view text, std::span<const std::u32string> specials = {},
                 Case contractions = Case::kExact);

/// GPT-2's words: as above, but numbers run together and a word keeps one space before it.
Words gpt2_words(std::u32string_view text);

/// BERT's words: whitespace separates them, each punctuation character stands alone.
Words bert_words(std::u32string_view text);

/// Words of whitespace-separated text.
Words space_separated(std::u32string_view text);

/// SentencePiece's words: each begins with U+2581, which stands for a space.
Words metaspace_words(std::u32string_view text);

/// The UTF-8 bytes of a word as the visible characters that byte-level vocabularies use.
std::u32string byte_symbols(std::u32string_view word);
/// The symbols of all bytes in the order of such vocabularies' first ids.
std::u32string byte_alphabet();

}  // namespace vit::text
