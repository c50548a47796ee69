#include "tools/cli/word_options.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>

#include "tools/cli/progress.h"
#include "tools/output/terminal.h"
#include "vit/base/error.h"
#include "vit/text/gzip.h"

namespace vit::tools {
namespace {

constexpr char kFileMark = '@';
constexpr size_t kShownPrompts = 3;

std::vector<std::string> parse_templates(const cxxopts::ParseResult& arguments) {
  std::vector<std::string> templates;
  for (const auto& text : values_of(arguments, "template")) {
    auto set = text::template_set(text);
    if (set.empty() && text.find("{}") == text.npos)
      fail_usage("option '--template' got '", text,
                 "', expected a sentence with {} in place of the label, such as 'a photo of a {}.'",
                 ", or one of the sets ", text::template_set_names());
    if (set.empty()) set.push_back(text);
    templates.insert(templates.end(), set.begin(), set.end());
  }
  return templates;
}

std::vector<text::WordLabel> parse_labels(const std::string& text,
                                          const std::vector<std::string>& templates) {
  std::error_code unknown;
  const bool marked = text.starts_with(kFileMark);
  // A label that is also the name of a file can only be given in a file.
  if (marked || std::filesystem::is_regular_file(text, unknown)) {
    const std::string path = marked ? text.substr(1) : text;
    return text::parse_label_lines(text::read_text(path), templates, path);
  }
  try {
    return text::parse_label_list(text, templates, "option '--labels'");
  } catch (const Error& error) {
    fail_usage(error.what());
  }
}

std::vector<text::WordLabel> labels_of_phrases(const std::vector<std::string>& phrases,
                                               const std::vector<std::string>& templates) {
  std::vector<text::WordLabel> labels;
  std::set<std::string> seen;
  for (const auto& phrase : phrases) {
    if (!seen.insert(phrase).second) continue;
    auto& label = labels.emplace_back(text::WordLabel{phrase, {}});
    for (const auto& sentence : templates)
      label.prompts.push_back(text::fill_template(sentence, phrase));
  }
  text::check_labels(labels, "option '--class'");
  return labels;
}

/// Thousands of texts take seconds, and many threads report them.
class WordProgress {
 public:
  void show(size_t done, size_t prompts) {
    const std::lock_guard lock(mutex_);
    finished_ = finished_ || done == prompts;
    if (finished_) return line_.clear();
    line_.update([&](size_t) { return count_text("texts", done, prompts); });
  }

 private:
  std::mutex mutex_;
  bool finished_ = false;  ///< a slower thread may report an earlier number afterwards
  ProgressLine line_{ProgressLine::Show::kAlsoElsewhere};
};

/// Reports the first few prompts that were cut, and once that there are more.
class TruncationNotes {
 public:
  void add(const std::string& prompt, size_t context) {
    if (++count_ <= kShownPrompts)
      write_message("'" + prompt + "': longer than the " + std::to_string(context) +
                    " tokens of the model; the end is left out");
    else if (count_ == kShownPrompts + 1)
      write_message("more prompts are longer than the model reads; their ends are left out");
  }

 private:
  size_t count_ = 0;
};

void report_to_terminal(WordClasses& words) {
  const auto progress = std::make_shared<WordProgress>();
  words.progress = [progress](size_t done, size_t prompts) { progress->show(done, prompts); };
  const auto notes = std::make_shared<TruncationNotes>();
  words.truncated = [notes](const std::string& prompt, size_t context) {
    notes->add(prompt, context);
  };
}

}  // namespace

void add_word_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Words",
      {
          {"labels",
           "classes in words, for a model with a text tower: a list such as \"a cat,a dog\", or a "
           "file with one label a line, or LABEL<tab>PROMPT<tab>PROMPT...; for other models "
           "names of their classes, in order",
           text(), "LIST|FILE"},
          {"template",
           "sentence with {} for the label; may be given several times, their features are "
           "averaged; or a set: " +
               text::template_set_names() +
               " (default: \"a photo of a {}.\", for SigLIP \"This is a photo of {}.\")",
           text(), "SENTENCE|SET"},
          {"none-of-these",
           "extra class that is the answer if no label reaches T: for CLIP a cosine of image and "
           "text (about 0.2), for SigLIP a probability",
           text(), "T"},
      });
}

std::vector<std::string> values_of(const cxxopts::ParseResult& arguments, std::string_view option) {
  std::vector<std::string> values;
  for (const auto& argument : arguments.arguments())
    if (argument.key() == option) values.push_back(argument.value());
  return values;
}

std::optional<WordClasses> parse_words(const cxxopts::ParseResult& arguments,
                                       const std::vector<std::string>& phrases) {
  const auto lists = values_of(arguments, "labels");
  if (lists.size() > 1)
    fail_usage("--labels given ", lists.size(), " times, expected one list or @FILE");
  if (lists.empty() && phrases.empty()) {
    for (const auto* option : {"template", "none-of-these"})
      if (arguments.count(option) != 0 && arguments.count("class") == 0)
        fail_usage("--", option, " given without --labels, which names the classes");
    return {};
  }
  WordClasses words;
  const auto templates = parse_templates(arguments);
  words.labels = lists.empty() ? labels_of_phrases(phrases, templates)
                               : parse_labels(lists.front(), templates);
  if (arguments.count("none-of-these") != 0) {
    const auto text = arguments["none-of-these"].as<std::string>();
    char* end = nullptr;
    words.none_of_these = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(*words.none_of_these > -1 && *words.none_of_these < 1))
      fail_usage("option '--none-of-these' got '", text,
                 "', expected a cosine between -1 and 1, or a probability for SigLIP");
    for (const auto& label : words.labels)
      if (label.name == kNoneOfThese)
        fail_usage("--none-of-these adds the class '", kNoneOfThese, "', which --labels has too");
  }
  report_to_terminal(words);
  return words;
}

}  // namespace vit::tools
