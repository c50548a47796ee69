#include "tests/fuzz/seeds.h"
#include "tests/text/small_files.h"

namespace vit::fuzz {

using namespace text::test;

std::vector<std::string> tokenizer_json_seeds() {
  return {clip_tokenizer_json(), unigram_tokenizer_json(), byte_fallback_tokenizer_json(),
          bert_tokenizer_json(),
          R"({"normalizer":{"type":"Precompiled","precompiled_charsmap":"CAAAAAAEAAAAAQAAYQA="},)"
          R"("model":{"unk_id":0,"vocab":[["<unk>",0],["a",-1]]}})"};
}

std::vector<std::string> sentencepiece_seeds() {
  std::vector<SentencePiece> bytes = unigram_pieces();
  bytes.push_back({"<0xC3>", 0, 6});
  bytes.push_back({"user", 0, 4});
  return {sentencepiece_model(1, unigram_pieces()), sentencepiece_model(2, unigram_pieces()),
          sentencepiece_model(1, bytes, true), sentencepiece_model(2, bytes, true, false)};
}

}  // namespace vit::fuzz
