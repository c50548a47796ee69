#include "vit/text/prompts.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "vit/base/error.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

constexpr std::string_view kPlace = "{}";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// OpenAI's templates for ImageNet, from CLIP's notebook on prompts (MIT licence): all of them, and
// the seven that its authors found to do as well.
constexpr std::array<std::string_view, 80> kOpenAi80{
    "a bad photo of a {}.",
    "a photo of many {}.",
    "a sculpture of a {}.",
    "a photo of the hard to see {}.",
    "a low resolution photo of the {}.",
    "a rendering of a {}.",
    "graffiti of a {}.",
    "a bad photo of the {}.",
    "a cropped photo of the {}.",
    "a tattoo of a {}.",
    "the embroidered {}.",
    "a photo of a hard to see {}.",
    "a bright photo of a {}.",
    "a photo of a clean {}.",
    "a photo of a dirty {}.",
    "a dark photo of the {}.",
    "a drawing of a {}.",
    "a photo of my {}.",
    "the plastic {}.",
    "a photo of the cool {}.",
    "a close-up photo of a {}.",
    "a black and white photo of the {}.",
    "a painting of the {}.",
    "a painting of a {}.",
    "a pixelated photo of the {}.",
    "a sculpture of the {}.",
    "a bright photo of the {}.",
    "a cropped photo of a {}.",
    "a plastic {}.",
    "a photo of the dirty {}.",
    "a jpeg corrupted photo of a {}.",
    "a blurry photo of the {}.",
    "a photo of the {}.",
    "a good photo of the {}.",
    "a rendering of the {}.",
    "a {} in a video game.",
    "a photo of one {}.",
    "a doodle of a {}.",
    "a close-up photo of the {}.",
    "a photo of a {}.",
    "the origami {}.",
    "the {} in a video game.",
    "a sketch of a {}.",
    "a doodle of the {}.",
    "a origami {}.",
    "a low resolution photo of a {}.",
    "the toy {}.",
    "a rendition of the {}.",
    "a photo of the clean {}.",
    "a photo of a large {}.",
    "a rendition of a {}.",
    "a photo of a nice {}.",
    "a photo of a weird {}.",
    "a blurry photo of a {}.",
    "a cartoon {}.",
    "art of a {}.",
    "a sketch of the {}.",
    "a embroidered {}.",
    "a pixelated photo of a {}.",
    "itap of the {}.",
    "a jpeg corrupted photo of the {}.",
    "a good photo of a {}.",
    "a plushie {}.",
    "a photo of the nice {}.",
    "a photo of the small {}.",
    "a photo of the weird {}.",
    "the cartoon {}.",
    "art of the {}.",
    "a drawing of the {}.",
    "a photo of the large {}.",
    "a black and white photo of a {}.",
    "the plushie {}.",
    "a dark photo of a {}.",
    "itap of a {}.",
    "graffiti of the {}.",
    "a toy {}.",
    "itap of my {}.",
    "a photo of a cool {}.",
    "a photo of a small {}.",
    "a tattoo of the {}.",
};
constexpr std::array<std::string_view, 7> kOpenAi7{
    "itap of a {}.",
    "a bad photo of the {}.",
    "a origami {}.",
    "a photo of the large {}.",
    "a {} in a video game.",
    "art of the {}.",
    "a photo of the small {}.",
};
constexpr std::array kPlain{kPlace};

struct TemplateSet {
  std::string_view name;
  std::span<const std::string_view> templates;
};
constexpr std::array<TemplateSet, 3> kSets{
    {{"openai-80", kOpenAi80}, {"openai-7", kOpenAi7}, {"plain", kPlain}}};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

WordLabel label_of(std::string_view name, std::span<const std::string> templates) {
  WordLabel label{std::string(name), {}};
  for (const auto& sentence : templates) label.prompts.push_back(fill_template(sentence, name));
  return label;
}

/// A label and its own prompts. A prompt that is empty was most likely forgotten.
WordLabel label_of_parts(std::span<const std::string_view> parts, const std::string& where) {
  WordLabel label{std::string(parts.front()), {}};
  for (const auto part : parts.subspan(1)) {
    if (part.empty())
      fail_at(where, "label '", label.name,
              "' has an empty prompt; expected a text after each tab");
    label.prompts.emplace_back(part);
  }
  return label;
}

}  // namespace

std::vector<std::string> template_set(std::string_view name) {
  for (const auto& set : kSets)
    if (set.name == name) return {set.templates.begin(), set.templates.end()};
  return {};
}

std::string template_set_names() {
  std::string names;
  for (const auto& set : kSets) names += (names.empty() ? "" : ", ") + std::string(set.name);
  return names;
}

std::string fill_template(std::string_view sentence, std::string_view label) {
  std::string text;
  size_t start = 0;
  for (size_t at = sentence.find(kPlace); at != sentence.npos; at = sentence.find(kPlace, start)) {
    text.append(sentence.substr(start, at - start)).append(label);
    start = at + kPlace.size();
  }
  if (start == 0)
    fail("template '", sentence, "' has no place for the label, expected {} in it, as in ",
         "'a photo of a {}.'");
  return text.append(sentence.substr(start));
}

std::vector<WordLabel> parse_label_list(std::string_view list,
                                        std::span<const std::string> templates,
                                        std::string_view where) {
  std::vector<WordLabel> labels;
  for (const auto name : split(list, ',')) labels.push_back(label_of(name, templates));
  check_labels(labels, where);
  return labels;
}

std::vector<WordLabel> parse_label_lines(std::string_view lines,
                                         std::span<const std::string> templates,
                                         std::string_view where) {
  if (lines.starts_with(kByteOrderMark)) lines.remove_prefix(kByteOrderMark.size());
  // Tabs separate prompts, so only the ends of lines are taken off here.
  const size_t last = lines.find_last_not_of(" \t\r\n");
  lines = last == lines.npos ? std::string_view() : lines.substr(0, last + 1);
  std::vector<WordLabel> labels;
  size_t number = 0;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    const std::string place = std::string(where) + ":" + std::to_string(++number);
    const auto parts = split(line, '\t');
    if (parts.front().empty())
      fail_at(place, "the label is empty; expected one label a line, or a label and its prompts ",
              "separated by tabs");
    labels.push_back(parts.size() == 1 ? label_of(parts.front(), templates)
                                       : label_of_parts(parts, place));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  check_labels(labels, where);
  return labels;
}

void check_labels(std::span<const WordLabel> labels, std::string_view where) {
  if (labels.empty()) fail_at(where, "no label given, expected one or more");
  std::unordered_map<std::string_view, size_t> seen;
  for (size_t i = 0; i < labels.size(); ++i) {
    const WordLabel& label = labels[i];
    const std::string place = std::string(where) + ": label " + std::to_string(i + 1);
    if (label.name.empty())
      fail_at(where, "label ", i + 1, " of ", labels.size(),
              " is empty; remove it or name the class");
    decode_utf8(label.name, place);
    for (const auto& prompt : label.prompts) decode_utf8(prompt, place + ": a prompt");
    const auto [earlier, is_new] = seen.emplace(label.name, i);
    if (!is_new)
      fail_at(where, "label ", i + 1, " is '", label.name, "', as is label ", earlier->second + 1,
              "; labels must differ: only one of two equal ones could ever be the answer");
  }
}

}  // namespace vit::text
