/// Classes in words: labels, the templates that make sentences of them, and lists of both.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vit::text {

/// A class: its name, and the texts whose mean feature stands for it.
struct WordLabel {
  std::string name;
  std::vector<std::string> prompts;

  bool operator==(const WordLabel&) const = default;
};

/// Templates of a set: "openai-80" and "openai-7", OpenAI's for ImageNet, or "plain", the bare
/// label. Empty: there is no set of this name.
std::vector<std::string> template_set(std::string_view name);
/// "openai-80, openai-7, plain"
std::string template_set_names();

/// The template with every "{}" replaced by the label. Throws an Error if it has none.
std::string fill_template(std::string_view sentence, std::string_view label);

/// Labels separated by commas, spaces around them removed: "a cat, a dog". Without templates they
/// have no prompts. `where` opens messages.
std::vector<WordLabel> parse_label_list(std::string_view list,
                                        std::span<const std::string> templates,
                                        std::string_view where);

/// One label a line, or a label and its own prompts, separated by tabs. Empty lines at the end are
/// passed over.
std::vector<WordLabel> parse_label_lines(std::string_view lines,
                                         std::span<const std::string> templates,
                                         std::string_view where);

/// Throws an Error: no label, an empty one, two of the same name, a text that is not valid UTF-8.
/// `where` opens the message.
void check_labels(std::span<const WordLabel> labels, std::string_view where);

}  // namespace vit::text
