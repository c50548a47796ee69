#include "vit/text/tokenizer.h"

#include <algorithm>

#include "vit/text/unicode.h"

namespace vit::text {
namespace {

/// A part of a text: an added token, or what lies between them.
struct Segment {
  std::u32string text;
  const AddedToken* token = nullptr;
};

bool is_word_character(char32_t c) {
  return is_letter(c) || is_number(c) || c == U'_';
}

bool matches_at(std::u32string_view text, size_t at, const AddedToken& token) {
  if (token.content.empty() || !text.substr(at).starts_with(token.content)) return false;
  const size_t end = at + token.content.size();
  return !token.whole_word || ((at == 0 || !is_word_character(text[at - 1])) &&
                               (end == text.size() || !is_word_character(text[end])));
}

const AddedToken* longest_token(std::u32string_view text, size_t at,
                                const std::vector<const AddedToken*>& tokens) {
  const AddedToken* best = nullptr;
  for (const AddedToken* token : tokens)
    if (matches_at(text, at, *token) &&
        (best == nullptr || token->content.size() > best->content.size()))
      best = token;
  return best;
}

void strip(const AddedToken* before, const AddedToken* after, std::u32string& text) {
  if (before != nullptr && before->strips_right)
    while (!text.empty() && is_space(text.front())) text.erase(0, 1);
  if (after != nullptr && after->strips_left)
    while (!text.empty() && is_space(text.back())) text.pop_back();
}

/// The leftmost token first, the longest of those that begin at one place.
std::vector<Segment> cut_at(std::u32string_view text,
                            const std::vector<const AddedToken*>& tokens) {
  std::vector<Segment> segments;
  std::u32string between;
  const AddedToken* last = nullptr;
  const auto finish = [&](const AddedToken* next) {
    strip(last, next, between);
    if (!between.empty()) segments.push_back({between, nullptr});
    between.clear();
  };
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = longest_token(text, at, tokens);
    if (token == nullptr) {
      between += text[at++];
      continue;
    }
    finish(token);
    segments.push_back({token->content, token});
    last = token;
    at += token->content.size();
  }
  finish(nullptr);
  return segments;
}

std::vector<const AddedToken*> tokens_that_are(const Tokenizer& tokenizer, bool normalized) {
  std::vector<const AddedToken*> tokens;
  for (const AddedToken& token : tokenizer.added)
    if (token.normalized == normalized) tokens.push_back(&token);
  return tokens;
}

std::u32string normalize(const Tokenizer& tokenizer, std::u32string text) {
  for (const Normalizer& normalizer : tokenizer.normalizers) text = normalizer(std::move(text));
  return text;
}

void encode_words(const Tokenizer& tokenizer, std::u32string text, bool first,
                  std::vector<TokenId>& ids) {
  Words words{std::move(text)};
  for (const Splitter& splitter : tokenizer.splitters) {
    Words smaller;
    for (size_t i = 0; i < words.size(); ++i)
      for (auto& word : splitter(std::move(words[i]), first && i == 0))
        if (!word.empty()) smaller.push_back(std::move(word));
    words = std::move(smaller);
  }
  for (const auto& word : words) {
    const auto special =
        std::find_if(tokenizer.special_words.begin(), tokenizer.special_words.end(),
                     [&](const AddedToken& token) { return token.content == word; });
    if (special != tokenizer.special_words.end())
      ids.push_back(special->id);
    else
      std::visit([&](const auto& model) { model.encode(word, ids); }, tokenizer.model);
  }
}

}  // namespace

std::optional<TokenId> id_of(const Tokenizer& tokenizer, std::string_view piece) {
  const std::u32string content = decode_utf8(piece, "the token");
  for (const auto* tokens : {&tokenizer.added, &tokenizer.special_words})
    for (const AddedToken& token : *tokens)
      if (token.content == content) return token.id;
  return std::visit([&](const auto& model) { return model.find(piece); }, tokenizer.model);
}

std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text) {
  const std::u32string cleaned = clean(decode_utf8(text, "the text"), tokenizer.cleaning);
  const auto raw = tokens_that_are(tokenizer, false), normal = tokens_that_are(tokenizer, true);
  std::vector<TokenId> ids;
  bool first = true;
  for (auto& outer : cut_at(cleaned, raw)) {
    if (outer.token != nullptr) {
      ids.push_back(outer.token->id);
    } else {
      for (auto& inner : cut_at(normalize(tokenizer, std::move(outer.text)), normal)) {
        if (inner.token != nullptr)
          ids.push_back(inner.token->id);
        else
          encode_words(tokenizer, std::move(inner.text), first, ids);
        first = false;
      }
    }
    first = false;
  }
  return ids;
}

TokenSequence encode(const Tokenizer& tokenizer, std::string_view text, size_t length) {
  std::vector<TokenId> body = encode(tokenizer, text);
  const size_t frame = tokenizer.before.size() + tokenizer.after.size();
  const size_t room = length > frame ? length - frame : 0;
  TokenSequence sequence;
  sequence.truncated = body.size() > room;
  if (sequence.truncated) body.resize(room);
  sequence.ids = tokenizer.before;
  sequence.ids.insert(sequence.ids.end(), body.begin(), body.end());
  sequence.ids.insert(sequence.ids.end(), tokenizer.after.begin(), tokenizer.after.end());
  sequence.used = sequence.ids.size();
  sequence.ids.resize(length, tokenizer.padding);
  return sequence;
}

}  // namespace vit::text
