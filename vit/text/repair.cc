#include "vit/text/repair.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "vit/text/html.h"
#include "vit/text/unicode.h"
#include "vit/text/windows_1252.h"

namespace vit::text {
namespace {

constexpr size_t kLongestEntity = 24;

bool is_ascii_alphanumeric(char32_t c) {
  return (c >= U'0' && c <= U'9') || ((c | 0x20) >= U'a' && (c | 0x20) <= U'z' && c < 0x80);
}

/// A name that HTML knows in lower case alone stands for the capital letter: "&EACUTE;".
std::u32string capital_entity(std::u32string_view name) {
  const auto small = html_entity(lowercase(name));
  if (!small || lowercase(name) == name || small->size() != 1) return {};
  return {static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(small->front())))};
}

/// Only references that end in a semicolon: prose has ampersands of its own.
std::u32string decode_entities(std::u32string_view text) {
  std::u32string decoded;
  for (size_t at = 0; at < text.size(); ++at) {
    size_t end = at + 1;
    if (text[at] == U'&') {
      if (end < text.size() && text[end] == U'#') ++end;
      const size_t first = end;
      while (end < text.size() && end - first < kLongestEntity && is_ascii_alphanumeric(text[end]))
        ++end;
      if (end > first && end < text.size() && text[end] == U';') {
        const std::u32string_view whole = text.substr(at, end + 1 - at);
        std::u32string plain = unescape_html(whole);
        if (plain.find(U';') != plain.npos) plain = capital_entity(whole.substr(1));
        if (!plain.empty()) {
          decoded += plain;
          at = end;
          continue;
        }
      }
    }
    decoded += text[at];
  }
  return decoded;
}

/// The lead bytes of two-byte sequences that are seen in wrongly decoded text and hardly ever in
/// text that is right: "Â", "Ã", "Å", Greek, Cyrillic, Arabic.
bool is_telling_lead(unsigned char byte) {
  constexpr std::array<unsigned char, 8> kLeads{0xC2, 0xC3, 0xC5, 0xCE, 0xCF, 0xD0, 0xD1, 0xD9};
  return std::find(kLeads.begin(), kLeads.end(), byte) != kLeads.end();
}

size_t sequence_length(unsigned char lead) {
  if (is_telling_lead(lead)) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/// Characters that stand beside letters in prose that is right: after "café" a no-break space and
/// a guillemet, or a dash and a quote, are what they are, although "é" begins a sequence too.
bool is_typography(char32_t c) {
  constexpr std::u32string_view kTypography =
      U"\u00A0\u00AB\u00BB\u2013\u2014\u2018\u2019\u201A\u201C\u201D\u201E\u2026\u2039\u203A";
  return kTypography.find(c) != kTypography.npos;
}

/// The character whose UTF-8 bytes, read as Windows-1252, are the first characters of `text`.
std::pair<char32_t, size_t> misread_character(std::u32string_view text) {
  const auto lead = windows_1252_byte(text.front());
  const size_t length = lead ? sequence_length(*lead) : 0;
  if (length == 0 || text.size() < length) return {};
  const auto rest = text.substr(1, length - 1);
  if (length > 2 && std::ranges::all_of(rest, is_typography)) return {};
  std::array<utf8proc_uint8_t, 4> bytes{*lead};
  for (size_t i = 1; i < length; ++i) {
    const auto byte = windows_1252_byte(text[i]);
    if (!byte || *byte < 0x80 || *byte > 0xBF) return {};
    bytes[i] = *byte;
  }
  utf8proc_int32_t c = 0;
  if (utf8proc_iterate(bytes.data(), static_cast<utf8proc_ssize_t>(length), &c) <= 0) return {};
  return {static_cast<char32_t>(c), length};
}

/// "Ã perturber": the second byte of "à" is a no-break space, which often became a space.
bool is_misread_a_grave(std::u32string_view text) {
  return text.size() > 2 && text[0] == 0xC3 && text[1] == U' ' && is_letter(text[2]);
}

std::u32string decode_misread_utf8(std::u32string_view text) {
  std::u32string decoded;
  while (!text.empty()) {
    auto [c, length] = misread_character(text);
    if (length == 0) c = is_misread_a_grave(text) ? U'\u00E0' : text.front();
    decoded += c;
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return decoded;
}

constexpr std::pair<char32_t, std::u32string_view> kReplacements[] = {
    // ligatures and digraphs
    {0x132, U"IJ"},
    {0x133, U"ij"},
    {0x149, U"\u02BCn"},
    {0x1C4, U"D\u017D"},
    {0x1C5, U"D\u017E"},
    {0x1C6, U"d\u017E"},
    {0x1C7, U"LJ"},
    {0x1C8, U"Lj"},
    {0x1C9, U"lj"},
    {0x1CA, U"NJ"},
    {0x1CB, U"Nj"},
    {0x1CC, U"nj"},
    {0x1F1, U"DZ"},
    {0x1F2, U"Dz"},
    {0x1F3, U"dz"},
    {0xFB00, U"ff"},
    {0xFB01, U"fi"},
    {0xFB02, U"fl"},
    {0xFB03, U"ffi"},
    {0xFB04, U"ffl"},
    {0xFB05, U"\u017Ft"},
    {0xFB06, U"st"},
    // curly quotes
    {0x201C, U"\""},
    {0x201D, U"\""},
    {0x201E, U"\""},
    {0x201F, U"\""},
    {0x2BC, U"'"},
    {0x2018, U"'"},
    {0x2019, U"'"},
    {0x201A, U"'"},
    {0x201B, U"'"},
    // line breaks and spaces
    {0x3000, U" "},
    {0x2028, U"\n"},
    {0x2029, U"\n"},
};

void append_replaced(char32_t c, std::u32string& out) {
  if (c >= 0x80 && c <= 0x9F) c = kWindows1252[c - 0x80];
  const auto* found = std::find_if(std::begin(kReplacements), std::end(kReplacements),
                                   [&](const auto& entry) { return entry.first == c; });
  if (found != std::end(kReplacements)) {
    for (const char32_t replaced : found->second) out += replaced == 0x2BC ? U'\'' : replaced;
  } else if (c >= 0xFF01 && c <= 0xFFEF) {  // half-width and full-width forms
    out += normalized({&c, 1}, NormalForm::kKC);
  } else {
    out += c;
  }
}

bool is_removed(char32_t c) {
  return c <= 8 || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F ||
         (c >= 0x206A && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFC);
}

/// The length of "ESC [ digits and semicolons letter" at the start of `text`, or 0.
size_t terminal_escape(std::u32string_view text) {
  if (text.size() < 3 || text[0] != 0x1B || text[1] != U'[') return 0;
  size_t at = 2;
  while (at < text.size() && ((text[at] >= U'0' && text[at] <= U'9') || text[at] == U';')) ++at;
  const bool letter = at < text.size() && text[at] > U'9' && is_ascii_alphanumeric(text[at]);
  return letter ? at + 1 : 0;
}

std::u32string replace_characters(std::u32string_view text) {
  std::u32string replaced;
  for (const char32_t c : text) append_replaced(c, replaced);
  std::u32string kept;
  for (std::u32string_view rest = replaced; !rest.empty();) {
    if (const size_t escape = terminal_escape(rest)) {
      rest.remove_prefix(escape);
      continue;
    }
    if (rest.starts_with(U"\r\n")) rest.remove_prefix(1);
    const char32_t c = rest.front() == U'\r' ? U'\n' : rest.front();
    if (!is_removed(c)) kept += c;
    rest.remove_prefix(1);
  }
  return kept;
}

std::u32string repair_line(std::u32string_view line, bool entities) {
  std::u32string before, text(line);
  do {
    before = text;
    if (entities) text = decode_entities(text);
    text = normalized(replace_characters(decode_misread_utf8(text)), NormalForm::kC);
  } while (text != before);
  return text;
}

}  // namespace

std::u32string repair_text(std::u32string_view text) {
  std::u32string repaired;
  bool entities = true;  // not in lines with HTML tags, nor after them
  while (!text.empty()) {
    const size_t end = std::min(text.find(U'\n'), text.size() - 1) + 1;
    const std::u32string_view line = text.substr(0, end);
    entities = entities && line.find(U'<') == line.npos;
    repaired += repair_line(line, entities);
    text.remove_prefix(end);
  }
  return repaired;
}

}  // namespace vit::text
