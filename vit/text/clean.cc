#include "vit/text/clean.h"

#include <algorithm>

#include "vit/text/html.h"
#include "vit/text/repair.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

std::u32string tidy_spaces(std::u32string_view text) {
  return strip_spaces(collapse_spaces(text, is_python_space), is_python_space);
}

std::u32string repaired(std::u32string_view text) {
  return tidy_spaces(unescape_html(unescape_html(repair_text(text))));
}

std::u32string without_punctuation(std::u32string text) {
  std::erase_if(text, is_ascii_punctuation);
  return text;
}

}  // namespace

std::u32string clean(std::u32string_view text, TextCleaning cleaning) {
  switch (cleaning) {
    case TextCleaning::kNone:
      break;
    case TextCleaning::kLower:
      return lowercase_in_context(text);
    case TextCleaning::kRepairLower:
      return lowercase_in_context(repaired(text));
    case TextCleaning::kRepairSpaces:
      return repaired(text);
    case TextCleaning::kRepairCanonical: {
      std::u32string words = repaired(text);
      std::replace(words.begin(), words.end(), U'_', U' ');
      return tidy_spaces(lowercase_in_context(without_punctuation(std::move(words))));
    }
    case TextCleaning::kCanonical:
      return tidy_spaces(without_punctuation(lowercase_in_context(text)));
  }
  return std::u32string(text);
}

}  // namespace vit::text
