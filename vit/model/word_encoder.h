/// A text tower with its tokenizer, loaded once: texts to features, labels in words to the rows of
/// a classifier.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "vit/model/word_head.h"
#include "vit/text/tokenizer.h"
#include "vit/text/tower.h"
#include "weights/text.h"

namespace vit {

/// Immutable after load; shared by threads.
struct WordEncoder {
  weights::TextCheckpoint checkpoint;
  text::Tokenizer tokenizer;
  text::TextTower tower;
};

/// `clip_vocabularies` as in WordHeadOptions. Throws an Error: no tokenizer beside the weights, a
/// broken one.
WordEncoder load_word_encoder(weights::TextCheckpoint checkpoint,
                              std::span<const std::filesystem::path> clip_vocabularies = {});

struct TextFeature {
  std::vector<float> numbers;  ///< [E], not normalised
  size_t tokens = 0;           ///< that the text has, with start and end
  bool truncated = false;      ///< the text was longer than the tower reads
};
/// Throws an Error for a text that is not valid UTF-8.
TextFeature encode_words(const WordEncoder& encoder, const std::string& text);

/// As make_word_head() of the checkpoint gives it, to the bit.
WordHead make_word_head(const WordEncoder& encoder, std::span<const text::WordLabel> labels,
                        ThreadPool* pool = nullptr);

}  // namespace vit
