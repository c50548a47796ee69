#include "tools/cli/command.h"

#include <algorithm>
#include <array>
#include <new>

#include "tools/attention/attention.h"
#include "tools/batch/batch.h"
#include "tools/classify/classify.h"
#include "tools/convert/convert.h"
#include "tools/embed/embed.h"
#include "tools/eval/eval.h"
#include "tools/heads/heads.h"
#include "tools/info/info.h"
#include "tools/join/join.h"
#include "tools/models/models.h"
#include "tools/output/terminal.h"
#include "tools/pull/pull.h"
#include "tools/train/train.h"
#include "vit/base/thread_error.h"

namespace vit::tools {
namespace {

constexpr std::array kCommands{
    Command{"classify", "name the most likely classes of images", run_classify},
    Command{"batch", "the same for whole folders: a row for each, into a file", run_batch},
    Command{"eval", "say how often a model is right, and where it is wrong", run_eval},
    Command{"merge", "join what many machines have written", run_merge},
    Command{"embed", "write the features of whole folders", run_embed},
    Command{"attention", "show where a model looks in an image", run_attention},
    Command{"heads", "say what every attention head does", run_heads},
    Command{"info", "say what a model is", run_info},
    Command{"convert", "write a model as one self-contained file", run_convert},
    Command{"train", "train a model on your own classes", run_train},
    Command{"pull", "fetch a model from the Hugging Face hub", run_pull},
    Command{"models", "list the models that can be pulled, and those that are", run_models},
};

std::string version_text() {
  return "vit " VIT_VERSION "\n";
}

std::string overview() {
  size_t widest = 0;
  for (const auto& command : kCommands) widest = std::max(widest, command.name.size());
  std::string text =
      "Vision Transformer image classifier toolkit\n"
      "\n"
      "Usage:\n"
      "  vit COMMAND [OPTION...]\n"
      "\n"
      "Commands:\n";
  for (const auto& command : kCommands) {
    text += "  " + std::string(command.name) + std::string(widest - command.name.size() + 3, ' ');
    text += std::string(command.summary) + '\n';
  }
  return text +
         "\n"
         "  vit COMMAND --help   what a command can do, with examples\n"
         "  vit --version        the version\n";
}

const Command& find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  if (found != kCommands.end()) return *found;
  std::vector<std::string> names{"help"};
  for (const auto& command : kCommands) names.emplace_back(command.name);
  const bool option = name.starts_with('-');
  if (option) names = {"--help", "--version"};
  const std::string meant = nearest(name, names);
  const std::string_view kind = option ? "option" : "command";
  if (meant.empty()) fail_usage("unknown ", kind, " '", name, "'");
  fail_usage("unknown ", kind, " '", name, "', did you mean '", meant, "'?");
}

int run_help(Arguments topics) {
  if (topics.empty()) {
    write_output(overview());
    return 0;
  }
  const std::array<const char*, 1> help{"--help"};
  return find_command(topics.front()).run(help);
}

/// `command` is set as soon as it is known, for the hint under a usage error.
int dispatch(Arguments arguments, std::string& command) {
  if (arguments.empty()) fail_usage("no command given\n", overview());
  const std::string_view first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") return run_help(arguments.subspan(1));
  if (first == "--version" || first == "-V") {
    write_output(version_text());
    return 0;
  }
  const Command& chosen = find_command(first);
  command = chosen.name;
  return chosen.run(arguments.subspan(1));
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

int run_program(Arguments arguments) {
  std::string command;
  try {
    return dispatch(arguments, command);
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
  } catch (const std::exception& error) {
    write_message(error.what());
  }
  return 1;
}

}  // namespace vit::tools
