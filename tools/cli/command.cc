#include "tools/cli/command.h"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <system_error>

#include "tools/cli/pull_advice.h"
#include "tools/cli/renamed.h"
#include "tools/output/terminal.h"
#include "vit/base/thread_error.h"

namespace vit::tools {
namespace {

/// The order of the groups of options in every help text; groups that are not here come last.
constexpr std::array kGroups{"",       "Map",    "Picture", "Model",  "Learning",      "Images",
                             "Words",  "Run",    "Boxes",   "Limits", "Many machines", "Image",
                             "Output", "Machine"};

/// Commands that had another name in earlier versions.
constexpr std::array kRenamed{Renamed{"merge", "join"}};

using Commands = std::span<const Command>;

std::string version_text() {
  return "vit " VIT_VERSION "\n";
}

std::string overview(Commands commands) {
  size_t widest = 0;
  for (const auto& command : commands) widest = std::max(widest, command.name.size());
  std::string text =
      "Vision Transformer image classifier toolkit\n"
      "\n"
      "Usage:\n"
      "  vit COMMAND [OPTION...]\n"
      "\n"
      "Commands:\n";
  for (const auto& command : commands) {
    text += "  " + std::string(command.name) + std::string(widest - command.name.size() + 3, ' ');
    text += std::string(command.summary) + '\n';
  }
  return text +
         "\n"
         "  vit COMMAND --help   options of a command, with examples\n"
         "  vit --version        the version\n";
}

const Command& find_command(Commands commands, std::string_view name) {
  const auto found = std::ranges::find(commands, name, &Command::name);
  if (found != commands.end()) return *found;
  if (const auto now = name_now(kRenamed, name); !now.empty())
    fail_usage("the command '", name, "' is now called '", now, "'");
  std::vector<std::string> names{"help"};
  for (const auto& command : commands) names.emplace_back(command.name);
  const bool option = name.starts_with('-');
  if (option) names = {"--help", "--version"};
  const std::string meant = nearest(name, names);
  const std::string_view kind = option ? "option" : "command";
  if (meant.empty()) fail_usage("unknown ", kind, " '", name, "'");
  fail_usage("unknown ", kind, " '", name, "', did you mean '", meant, "'?");
}

std::string help_of(const Command& command) {
  cxxopts::Options options = options_of(command);
  std::vector<std::string> groups = options.groups();
  std::ranges::stable_sort(groups, {}, [](const std::string& group) {
    return std::ranges::find(kGroups, group) - kGroups.begin();
  });
  return help_text(options, groups, command.examples);
}

void check_operands(const Command& command, const cxxopts::ParseResult& parsed) {
  const Operands& rule = command.operands;
  const size_t given = parsed.unmatched().size();
  const size_t most = rule.most - (rule.model_first && parsed.count("model") ? 1 : 0);
  if (given >= rule.least && given <= most) return;
  if (given == 0) fail_usage("no ", rule.noun, " given, expected ", rule.expected);
  fail_usage(given, " ", rule.noun, given == 1 ? "" : "s", " given, expected ", rule.expected);
}

int run_help(Commands commands, Arguments topics) {
  write_output(topics.empty() ? overview(commands)
                              : help_of(find_command(commands, topics.front())));
  return 0;
}

/// `command` is set as soon as it is known, for the hint under a usage error.
int dispatch(Commands commands, Arguments arguments, std::string& command) {
  if (arguments.empty()) fail_usage("no command given\n", overview(commands));
  const std::string_view first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help")
    return run_help(commands, arguments.subspan(1));
  if (first == "--version" || first == "-V") {
    write_output(version_text());
    return 0;
  }
  const Command& chosen = find_command(commands, first);
  command = chosen.name;
  return run_command(chosen, arguments.subspan(1));
}

/// Lines as long as those of the options.
std::string wrapped(std::string_view text) {
  const size_t columns = std::clamp<size_t>(terminal_columns(), 60, 100);
  std::string lines;
  size_t column = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const bool fits = column + 1 + end <= columns;
    if (column != 0) lines += fits ? ' ' : '\n';
    lines += text.substr(0, end);
    column = (column == 0 || !fits ? 0 : column + 1) + end;
    if (end < text.size() && text[end] == '\n') {
      lines += '\n';
      column = 0;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

cxxopts::Options options_of(const Command& command) {
  cxxopts::Options options("vit " + std::string(command.name), wrapped(command.description) + "\n");
  options.custom_help(std::string(command.usage));
  command.add_options(options);
  options.add_options("", {{"h,help", "this text"}});
  return options;
}

int run_command(const Command& command, Arguments arguments) {
  cxxopts::Options options = options_of(command);
  const auto parsed = parse(options, arguments);
  if (parsed.count("help")) {
    write_output(help_of(command));
    return 0;
  }
  check_operands(command, parsed);
  return command.run(parsed);
}

int run_program(Commands commands, Arguments arguments) {
  std::string command;
  try {
    return dispatch(commands, arguments, command);
  } catch (const UsageError& error) {
    write_message(error.what());
    if (!arguments.empty())
      write_message("see 'vit " + (command.empty() ? "" : command + " ") + "--help'");
    return 2;
  } catch (const OutputClosed&) {
    return 1;
  } catch (const ThreadError& error) {
    write_message(std::string(error.what()) + (error.workers() > 1
                                                   ? "; use --threads 1"
                                                   : "; raise the limit of processes (ulimit -u)"));
  } catch (const std::bad_alloc&) {
    write_message("out of memory");
  } catch (const std::system_error& error) {
    // The system's message alone, such as "Resource temporarily unavailable", explains nothing.
    write_message(error.code() == std::errc::resource_unavailable_try_again
                      ? std::string("cannot start a thread: ") + error.what() +
                            "; use --threads 1, or raise the limit of processes (ulimit -u)"
                      : error.what());
  } catch (const std::exception& error) {
    write_message(message_of(error));
  }
  return 1;
}

}  // namespace vit::tools
