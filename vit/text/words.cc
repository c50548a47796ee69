#include "vit/text/words.h"

#include <algorithm>
#include <array>

#include "vit/text/unicode.h"

namespace vit::text {
namespace {

constexpr std::u32string_view kContractions[] = {U"'s", U"'t",  U"'re", U"'ve",
                                                 U"'m", U"'ll", U"'d"};

size_t contraction(std::u32string_view text, Case letters = Case::kExact) {
  constexpr char32_t kLongS = 0x17F;
  if (letters == Case::kFolded && text.size() > 1 && text[0] == U'\'' && text[1] == kLongS)
    return 2;
  for (const auto known : kContractions)
    if (text.starts_with(known)) return known.size();
  return 0;
}

bool is_other(char32_t c) {
  return !is_space(c) && !is_letter(c) && !is_number(c);
}

size_t run(std::u32string_view text, bool (*belongs)(char32_t)) {
  const auto end = std::find_if_not(text.begin(), text.end(), belongs);
  return static_cast<size_t>(end - text.begin());
}

size_t clip_word(std::u32string_view text, std::span<const std::u32string> specials,
                 Case contractions) {
  for (const auto& special : specials)
    if (text.starts_with(special)) return special.size();
  if (const size_t length = contraction(text, contractions)) return length;
  if (const size_t length = run(text, is_letter)) return length;
  return is_number(text.front()) ? 1 : run(text, is_other);
}

size_t gpt2_word(std::u32string_view text) {
  if (const size_t length = contraction(text)) return length;
  const size_t space = text.front() == U' ' ? 1 : 0;
  for (const auto belongs : {is_letter, is_number, is_other})
    if (const size_t length = run(text.substr(space), belongs)) return space + length;
  // The last space of several belongs to the word that follows.
  const size_t spaces = run(text, is_space);
  return spaces == text.size() || spaces == 1 ? spaces : spaces - 1;
}

bool is_bert_punctuation(char32_t c) {
  return is_ascii_punctuation(c) || is_punctuation(c);
}

/// Bytes that are shown as the character of the same number.
bool is_visible(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

std::array<char32_t, 256> make_byte_symbols() {
  std::array<char32_t, 256> symbols{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    symbols[byte] = is_visible(byte) ? static_cast<char32_t>(byte) : next++;
  return symbols;
}

}  // namespace

Words clip_words(std::u32string_view text, std::span<const std::u32string> specials,
                 Case contractions) {
  Words words;
  while (!text.empty()) {
    const size_t length = clip_word(text, specials, contractions);
    if (length > 0) words.emplace_back(text.substr(0, length));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return words;
}

Words gpt2_words(std::u32string_view text) {
  Words words;
  while (!text.empty()) {
    const size_t length = gpt2_word(text);
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

Words bert_words(std::u32string_view text) {
  Words words;
  bool open = false;
  for (const char32_t c : text) {
    if (is_space(c)) {
      open = false;
    } else if (is_bert_punctuation(c)) {
      words.emplace_back(1, c);
      open = false;
    } else {
      if (!open) words.emplace_back();
      words.back() += c;
      open = true;
    }
  }
  return words;
}

Words space_separated(std::u32string_view text) {
  Words words;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) continue;
    if (i == 0 || is_space(text[i - 1])) words.emplace_back();
    words.back() += text[i];
  }
  return words;
}

Words metaspace_words(std::u32string_view text) {
  Words words;
  for (const char32_t c : text) {
    if (words.empty() || c == 0x2581) words.emplace_back();
    words.back() += c;
  }
  return words;
}

std::u32string byte_symbols(std::u32string_view word) {
  static const auto kSymbols = make_byte_symbols();
  std::u32string symbols;
  for (const char byte : encode_utf8(word)) symbols += kSymbols[static_cast<unsigned char>(byte)];
  return symbols;
}

std::u32string byte_alphabet() {
  static const auto kSymbols = make_byte_symbols();
  std::u32string alphabet;
  for (unsigned byte = 0; byte < 256; ++byte)
    if (is_visible(byte)) alphabet += kSymbols[byte];
  for (unsigned byte = 0; byte < 256; ++byte)
    if (!is_visible(byte)) alphabet += kSymbols[byte];
  return alphabet;
}

}  // namespace vit::text
