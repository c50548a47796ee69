#include <algorithm>
#include <memory>

#include "vit/base/error.h"
#include "vit/text/characters_map.h"
#include "vit/text/growth.h"
#include "vit/text/json_steps.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

Normalizer to_form(NormalForm form) {
  return [form](std::u32string text) { return normalized(text, form); };
}

std::u32string strip_accents(std::u32string text) {
  std::erase_if(text, is_nonspacing_mark);
  return text;
}

std::u32string replace_all(std::u32string_view text, std::u32string_view from,
                           std::u32string_view to, std::string_view where) {
  std::u32string replaced;
  const size_t before = text.size();
  while (!text.empty()) {
    const bool matches = text.starts_with(from);
    replaced += matches ? to : text.substr(0, 1);
    text.remove_prefix(matches ? from.size() : 1);
    check_growth(before, replaced.size(), where);
  }
  return replaced;
}

/// Runs of at least `shortest` characters that belong become `to`.
std::u32string replace_runs(std::u32string_view text, bool (*belongs)(char32_t), size_t shortest,
                            std::u32string_view to, std::string_view where) {
  std::u32string replaced;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && belongs(text[end])) ++end;
    if (end - at >= shortest) {
      replaced += to;
      at = end;
      check_growth(text.size(), replaced.size(), where);
    } else {
      end = std::max(end, at + 1);
      replaced += text.substr(at, end - at);
      at = end;
    }
  }
  return replaced;
}

bool is_plain_space(char32_t c) {
  return c == U' ';
}

Normalizer read_replace(const Fields& step) {
  const Pattern pattern = read_pattern(step);
  const std::u32string to = decode_utf8(step.text("content").value_or(""), step.where());
  if (!pattern.regular_expression) {
    if (pattern.text.empty()) step.refuse("pattern", "some text");
    return [from = pattern.text, to, where = step.where()](const std::u32string& text) {
      return replace_all(text, from, to, where);
    };
  }
  if (pattern.text == U"\\s+")
    return [to, where = step.where()](const std::u32string& text) {
      return replace_runs(text, is_space, 1, to, where);
    };
  if (pattern.text == U" {2,}")
    return [to, where = step.where()](const std::u32string& text) {
      return replace_runs(text, is_plain_space, 2, to, where);
    };
  fail_at(step.where(), "the regular expression '", encode_utf8(pattern.text),
          "' is not one this toolkit knows: '\\s+', ' {2,}'");
}

Normalizer read_strip(const Fields& step) {
  const bool left = step.flag("strip_left").value_or(true);
  const bool right = step.flag("strip_right").value_or(true);
  return [left, right](std::u32string text) {
    while (right && !text.empty() && is_space(text.back())) text.pop_back();
    if (left) text.erase(text.begin(), std::ranges::find_if_not(text, is_space));
    return text;
  };
}

Normalizer read_prepend(const Fields& step) {
  const std::u32string prefix = decode_utf8(step.text("prepend").value_or(""), step.where());
  return [prefix, where = step.where()](const std::u32string& text) {
    check_growth(text.size(), text.size() + prefix.size(), where);
    return text.empty() ? text : prefix + text;
  };
}

Normalizer read_precompiled(const Fields& step) {
  const std::string where = step.where() + ": precompiled_charsmap";
  const auto map = std::make_shared<const CharactersMap>(
      decode_base64(step.text("precompiled_charsmap").value_or(""), where), where);
  return [map](const std::u32string& text) { return map->apply_to_clusters(text); };
}

bool is_chinese(char32_t c) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
      {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [c](const auto& range) { return c >= range.first && c <= range.second; });
}

std::u32string clean_for_bert(std::u32string_view text, bool chinese) {
  std::u32string cleaned;
  for (const char32_t c : text) {
    const bool break_or_tab = c == U'\t' || c == U'\n' || c == U'\r';
    if (c == 0 || c == 0xFFFD || (is_control(c) && !break_or_tab)) continue;
    if (chinese && is_chinese(c))
      cleaned += {U' ', c, U' '};
    else
      cleaned += is_space(c) ? U' ' : c;
  }
  return cleaned;
}

Normalizer read_bert(const Fields& step) {
  const bool chinese = step.flag("handle_chinese_chars").value_or(true);
  const bool lower = step.flag("lowercase").value_or(true);
  const bool accents = step.flag("strip_accents").value_or(lower);
  return [=](std::u32string text) {
    text = clean_for_bert(text, chinese);
    if (accents) text = strip_accents(normalized(text, NormalForm::kD));
    return lower ? lowercase(text) : text;
  };
}

Normalizer read_lowercase(const Fields&) {
  return [](const std::u32string& text) { return lowercase(text); };
}

Normalizer read_strip_accents(const Fields&) {
  return strip_accents;
}

constexpr StepKind<Normalizer> kKinds[] = {
    {"NFC", [](const Fields&) { return to_form(NormalForm::kC); }},
    {"NFD", [](const Fields&) { return to_form(NormalForm::kD); }},
    {"NFKC", [](const Fields&) { return to_form(NormalForm::kKC); }},
    {"NFKD", [](const Fields&) { return to_form(NormalForm::kKD); }},
    {"Lowercase", read_lowercase},
    {"StripAccents", read_strip_accents},
    {"Strip", read_strip},
    {"Replace", read_replace},
    {"Prepend", read_prepend},
    {"Precompiled", read_precompiled},
    {"BertNormalizer", read_bert},
};

}  // namespace

void read_normalizer(const Fields& step, std::vector<Normalizer>& normalizers) {
  read_steps(step, kKinds, "normalizer", "normalizers", normalizers);
}

Pattern read_pattern(const Fields& step) {
  const auto pattern = step.object("pattern");
  if (!pattern) step.refuse("pattern", "an object with String or Regex");
  for (const auto* kind : {"String", "Regex"})
    if (const auto text = pattern->text(kind))
      return {decode_utf8(*text, step.where()), std::string_view(kind) == "Regex"};
  step.refuse("pattern", "an object with String or Regex");
}

void refuse_type(const Fields& step, std::string_view part, std::string_view known) {
  fail_at(step.where(), "the ", part, " '", step.text("type").value_or(""),
          "' is not one this toolkit knows: ", known);
}

}  // namespace vit::text
