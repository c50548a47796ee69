#include "vit/model/word_encoder.h"

#include "vit/model/load_text.h"
#include "vit/text/load.h"

namespace vit {

WordEncoder load_word_encoder(weights::TextCheckpoint checkpoint,
                              std::span<const std::filesystem::path> clip_vocabularies) {
  text::Tokenizer tokenizer = text::load_tokenizer(checkpoint, clip_vocabularies);
  text::TextTower tower = load_text_tower(checkpoint);
  return {std::move(checkpoint), std::move(tokenizer), std::move(tower)};
}

TextFeature encode_words(const WordEncoder& encoder, const std::string& text) {
  const auto& config = encoder.checkpoint.config;
  const text::TokenSequence tokens = text::encode(encoder.tokenizer, text, config.context);
  TextFeature feature{std::vector<float>(config.features), tokens.used, tokens.truncated};
  text::TextWorkspace workspace;
  text::encode_text(encoder.tower, tokens, workspace, feature.numbers);
  return feature;
}

}  // namespace vit
