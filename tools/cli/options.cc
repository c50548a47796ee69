#include "tools/cli/options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tools/cli/renamed.h"
#include "tools/output/terminal.h"
#include "vit/base/text.h"

namespace vit::tools {
namespace {

/// Options that had another name in earlier versions. Others are close enough to be suggested.
constexpr std::array kRenamed{Renamed{"ablate", "disable-heads"}};

std::vector<std::string> long_names(const cxxopts::Options& options) {
  std::vector<std::string> names;
  for (const auto& group : options.groups())
    for (const auto& option : options.group_help(group).options)
      names.insert(names.end(), option.l.begin(), option.l.end());
  return names;
}

/// The name between cxxopts' quotation marks, the one part of its messages that we use.
std::string quoted(std::string_view message) {
  const size_t open = message.find(cxxopts::LQUOTE);
  if (open == message.npos) return {};
  const size_t first = open + cxxopts::LQUOTE.size();
  const size_t close = message.find(cxxopts::RQUOTE, first);
  return std::string(message.substr(first, close == message.npos ? close : close - first));
}

std::string dashed(const std::string& name) {
  return (name.size() == 1 ? "-" : "--") + name;
}

/// The argument that holds the unknown option: "-top" for 't', "--tpo=3" for "tpo".
std::string offending_argument(Arguments arguments, const std::string& name) {
  for (const std::string_view argument : arguments) {
    if (argument == "--") break;
    if (name.size() > 1 ? argument.starts_with("--" + name)
                        : argument.starts_with('-') && argument.find(name) != argument.npos)
      return std::string(argument.substr(0, argument.find('=')));
  }
  return dashed(name);
}

[[noreturn]] void fail_unknown(const cxxopts::Options& options, const std::string& argument) {
  const std::string typed =
      argument.substr(std::min(argument.find_first_not_of('-'), argument.size()));
  const std::string name = typed.substr(0, typed.find('='));
  std::string meant(name_now(kRenamed, name));
  if (meant.empty()) meant = nearest(name, long_names(options));
  if (meant.empty() || typed.size() < 2) fail_usage("unknown option '", argument, "'");
  fail_usage("unknown option '", argument, "', did you mean '--", meant, "'?");
}

}  // namespace

cxxopts::ParseResult parse(cxxopts::Options& options, Arguments arguments) {
  std::vector<const char*> argv{"vit"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  try {
    return options.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const cxxopts::exceptions::no_such_option& error) {
    fail_unknown(options, offending_argument(arguments, quoted(error.what())));
  } catch (const cxxopts::exceptions::invalid_option_syntax& error) {
    fail_unknown(options, quoted(error.what()));
  } catch (const cxxopts::exceptions::missing_argument& error) {
    fail_usage("option '", dashed(quoted(error.what())), "' needs a value");
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(error.what());
  }
}

std::string help_text(cxxopts::Options& options, const std::vector<std::string>& groups,
                      std::string_view examples) {
  options.set_width(std::clamp<size_t>(terminal_columns(), 60, 100));
  std::string text = options.help(groups) + "\nExamples:\n" + std::string(examples);
  // cxxopts leaves trailing blanks at line breaks.
  for (size_t at = text.find(" \n"); at != text.npos; at = text.find(" \n")) text.erase(at, 1);
  return text;
}

size_t parse_count(std::string_view option, std::string_view text, size_t least, size_t most) {
  const auto value = to_number<size_t>(text);
  if (!value || *value < least || *value > most)
    fail_usage("option '", option, "' got '", text, "', expected a whole number from ", least,
               " to ", most);
  return *value;
}

size_t parse_pixel_count(std::string_view option, std::string_view text) {
  constexpr std::string_view kSuffixes = "kMG";
  constexpr size_t kMost = 1'000'000'000'000;
  size_t factor = 1;
  std::string_view digits = text;
  const size_t suffix = text.empty() ? kSuffixes.npos : kSuffixes.find(text.back());
  if (suffix != kSuffixes.npos) {
    for (size_t i = 0; i <= suffix; ++i) factor *= 1000;
    digits.remove_suffix(1);
  }
  const auto value = to_number<size_t>(digits);
  if (!value || *value == 0 || *value > kMost / factor)
    fail_usage("option '", option, "' got '", text,
               "', expected a number of pixels such as 1000000, 800k, 500M or 2G");
  return *value * factor;
}

float parse_positive(std::string_view option, std::string_view text) {
  const auto value = to_number<float>(text);
  if (!value || !std::isfinite(*value) || *value <= 0.0f)
    fail_usage("option '", option, "' got '", text, "', expected a number above 0");
  return *value;
}

double parse_number(std::string_view option, std::string_view text, double least, double most) {
  const auto value = to_number<double>(text);
  if (!value || !(*value >= least && *value <= most))  // NaN is refused
    fail_usage("option '", option, "' got '", text, "', expected a number from ", least, " to ",
               most);
  return *value;
}

double parse_probability(std::string_view option, std::string_view text) {
  return parse_number(option, text, 0.0, 1.0);
}

PixelSize parse_pixel_size(std::string_view option, std::string_view text) {
  constexpr size_t kMost = 16384;
  const size_t cross = text.find('x');
  const auto height = to_number<size_t>(text.substr(0, cross));
  const auto width = cross == text.npos ? height : to_number<size_t>(text.substr(cross + 1));
  const auto usable = [&](const auto& edge) { return edge && *edge >= 1 && *edge <= kMost; };
  if (!usable(height) || !usable(width))
    fail_usage("option '", option, "' got '", text,
               "', expected N or HEIGHTxWIDTH in pixels, 1 to ", kMost,
               " each, such as 224 or 224x320");
  return {*height, *width};
}

void fail_choice(std::string_view option, std::string_view text,
                 std::span<const std::string> names) {
  std::string expected;
  for (size_t i = 0; i < names.size(); ++i)
    expected += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  fail_usage("option '", option, "' got '", text, "', expected ", expected);
}

}  // namespace vit::tools
