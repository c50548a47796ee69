#include <algorithm>

#include "vit/base/error.h"
#include "vit/text/json_steps.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

/// "a b" to "a " and "b": a separator stays with the text before it.
Words split_after(std::u32string_view text, std::u32string_view separator) {
  Words words;
  while (!text.empty()) {
    const size_t found = text.find(separator);
    const size_t length = found == text.npos ? text.size() : found + separator.size();
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

constexpr std::u32string_view kClipPattern =
    U"'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
constexpr std::u32string_view kGpt2Pattern =
    U"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

Splitter read_split(const Fields& step) {
  const Pattern pattern = read_pattern(step);
  const std::string behavior = step.text("behavior").value_or("");
  const bool inverted = step.flag("invert").value_or(false);
  if (!pattern.regular_expression && !pattern.text.empty() && behavior == "MergedWithPrevious" &&
      !inverted)
    return [separator = pattern.text](const std::u32string& text, bool) {
      return split_after(text, separator);
    };
  if (pattern.regular_expression && pattern.text == kClipPattern && behavior == "Removed" &&
      inverted)
    return [](const std::u32string& text, bool) { return clip_words(text); };
  if (pattern.regular_expression && pattern.text == kGpt2Pattern && behavior != "Removed")
    return [](const std::u32string& text, bool) { return gpt2_words(text); };
  fail_at(step.where(), "splitting at '", encode_utf8(pattern.text), "' with behavior '", behavior,
          "' is not supported; CLIP's and GPT-2's patterns are, and MergedWithPrevious at a text");
}

Splitter read_byte_level(const Fields& step) {
  const bool prefix = step.flag("add_prefix_space").value_or(true);
  const bool splits = step.flag("use_regex").value_or(true);
  return [prefix, splits](std::u32string text, bool) {
    if (prefix && !text.empty() && !is_space(text.front())) text.insert(text.begin(), U' ');
    Words words = splits ? gpt2_words(text) : Words{text};
    for (auto& word : words) word = byte_symbols(word);
    return words;
  };
}

Splitter read_metaspace(const Fields& step) {
  const std::string replacement = step.text("replacement").value_or("\u2581");
  if (replacement != "\u2581") step.refuse("replacement", "U+2581");
  const bool old_style = step.flag("add_prefix_space").value_or(true);
  const std::string scheme = step.text("prepend_scheme").value_or(old_style ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    step.refuse("prepend_scheme", "always, first or never");
  const bool splits = step.flag("split").value_or(true);
  return [scheme, splits](std::u32string text, bool first) {
    std::replace(text.begin(), text.end(), U' ', U'\u2581');
    const bool prepends = scheme == "always" || (scheme == "first" && first);
    if (prepends && !text.starts_with(U'\u2581')) text.insert(text.begin(), U'\u2581');
    return splits ? metaspace_words(text) : Words{text};
  };
}

Splitter read_bert(const Fields&) {
  return [](const std::u32string& text, bool) { return bert_words(text); };
}

Splitter read_space_separated(const Fields&) {
  return [](const std::u32string& text, bool) { return space_separated(text); };
}

constexpr StepKind<Splitter> kKinds[] = {
    {"Split", read_split},
    {"ByteLevel", read_byte_level},
    {"Metaspace", read_metaspace},
    {"BertPreTokenizer", read_bert},
    {"WhitespaceSplit", read_space_separated},
};

}  // namespace

void read_splitter(const Fields& step, std::vector<Splitter>& splitters) {
  read_steps(step, kKinds, "pre_tokenizer", "pretokenizers", splitters);
}

}  // namespace vit::text
