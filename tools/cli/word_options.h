/// Options for classes in words: labels, and the sentences that stand for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/options.h"
#include "vit/model/words.h"

namespace vit::tools {

/// --labels, --template and --none-of-these, as the group "Words".
void add_word_options(cxxopts::Options& options);

/// None without --labels. `phrases` are labels from another option, used if --labels is not given;
/// the templates apply to both. Throws a UsageError or an Error, naming the option or the line of
/// the file.
std::optional<WordClasses> parse_words(const cxxopts::ParseResult& arguments,
                                       const std::vector<std::string>& phrases = {});

/// All values of an option that may be given several times. cxxopts would split declared lists at
/// commas.
std::vector<std::string> values_of(const cxxopts::ParseResult& arguments, std::string_view option);

}  // namespace vit::tools
