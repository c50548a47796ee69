#include "vit/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "vit/base/error.h"

namespace vit::text {
namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_cased(char32_t c) {
  const auto kind = category(c);
  const bool other = c == 0xAA || c == 0xBA || (c >= 0x2160 && c <= 0x217F) ||
                     (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x2B0 && c <= 0x2B8) || c == 0x345;
  return kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL ||
         kind == UTF8PROC_CATEGORY_LT || other;
}

/// Case_Ignorable: marks, formats, modifiers, and the signs that stand inside words.
bool is_case_ignorable(char32_t c) {
  constexpr std::u32string_view kInsideWords =
      U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return kInsideWords.find(c) != kInsideWords.npos;
  }
}

/// Unicode's Final_Sigma condition for the capital sigma at `at`.
bool ends_word(std::u32string_view text, size_t at) {
  size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

void append_lower(char32_t c, std::u32string& out) {
  if (c == 0x130) {  // the one character whose lower case is two: i and a dot above
    out += U"i\u0307";
    return;
  }
  out += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes, std::string_view what) {
  std::u32string text;
  text.reserve(bytes.size());
  const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(bytes.data());
  for (size_t at = 0; at < bytes.size();) {
    utf8proc_int32_t c = 0;
    const auto length =
        utf8proc_iterate(data + at, static_cast<utf8proc_ssize_t>(bytes.size() - at), &c);
    if (length <= 0) fail_at(what, "byte ", at, " is not valid UTF-8; save the text as UTF-8");
    text += static_cast<char32_t>(c);
    at += static_cast<size_t>(length);
  }
  return text;
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (const char32_t c : text) {
    std::array<utf8proc_uint8_t, 4> buffer{};
    const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), buffer.data());
    bytes.append(reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(length));
  }
  return bytes;
}

bool is_letter(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_number(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x85 || (c >= 0x2028 && c <= 0x2029) ||
         category(c) == UTF8PROC_CATEGORY_ZS;
}

bool is_python_space(char32_t c) {
  return is_space(c) || (c >= 0x1C && c <= 0x1F);
}

bool is_punctuation(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
         (c >= 123 && c <= 126);
}

bool is_nonspacing_mark(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_MN;
}

bool is_control(char32_t c) {
  const auto kind = category(c);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
         kind == UTF8PROC_CATEGORY_CO || kind == UTF8PROC_CATEGORY_CS ||
         kind == UTF8PROC_CATEGORY_CN;
}

std::u32string lowercase(std::u32string_view text) {
  std::u32string lower;
  lower.reserve(text.size());
  for (const char32_t c : text) append_lower(c, lower);
  return lower;
}

std::u32string lowercase_in_context(std::u32string_view text) {
  constexpr char32_t kCapitalSigma = 0x3A3, kFinalSigma = 0x3C2;
  std::u32string lower;
  lower.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kCapitalSigma && ends_word(text, i))
      lower += kFinalSigma;
    else
      append_lower(text[i], lower);
  }
  return lower;
}

std::u32string normalized(std::u32string_view text, NormalForm form) {
  int options = UTF8PROC_STABLE;
  const bool composed = form == NormalForm::kC || form == NormalForm::kKC;
  options |= composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::kKC || form == NormalForm::kKD) options |= UTF8PROC_COMPAT;

  std::vector<utf8proc_int32_t> buffer(4 * text.size() + 4);
  utf8proc_ssize_t length = 0;
  const std::string bytes = encode_utf8(text);
  for (;;) {
    length = utf8proc_decompose(reinterpret_cast<const utf8proc_uint8_t*>(bytes.data()),
                                static_cast<utf8proc_ssize_t>(bytes.size()), buffer.data(),
                                static_cast<utf8proc_ssize_t>(buffer.size()),
                                static_cast<utf8proc_option_t>(options));
    if (length < 0) fail("text cannot be normalised: ", utf8proc_errmsg(length));
    if (static_cast<size_t>(length) <= buffer.size()) break;
    buffer.resize(static_cast<size_t>(length));
  }
  length = utf8proc_normalize_utf32(buffer.data(), length, static_cast<utf8proc_option_t>(options));
  return {buffer.begin(), buffer.begin() + length};
}

size_t cluster_length(std::u32string_view text) {
  utf8proc_int32_t state = 0;
  for (size_t i = 1; i < text.size(); ++i)
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(text[i - 1]),
                                         static_cast<utf8proc_int32_t>(text[i]), &state))
      return i;
  return text.size();
}

std::u32string collapse_spaces(std::u32string_view text, bool (*space)(char32_t)) {
  std::u32string collapsed;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!space(text[i]))
      collapsed += text[i];
    else if (i == 0 || !space(text[i - 1]))
      collapsed += U' ';
  }
  return collapsed;
}

std::u32string strip_spaces(std::u32string_view text, bool (*space)(char32_t)) {
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return std::u32string(text);
}

}  // namespace vit::text
