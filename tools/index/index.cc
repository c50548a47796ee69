#include "tools/index/index.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "tools/cli/check_output.h"
#include "tools/cli/image_input.h"
#include "tools/cli/model_options.h"
#include "tools/cli/stop_signals.h"
#include "tools/index/numpy_rows.h"
#include "tools/index/update.h"
#include "tools/inputs/inputs.h"
#include "vit/base/error.h"
#include "vit/data/image_files.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamples =
    "  vit index -m vit_small_patch14_dinov2 photos/ -o photos.index\n"
    "  vit index photos/ more/ -o photos.index --half\n"
    "  vit index features.npy -o photos.index\n";

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"m,model", kModelHelp, text(), "MODEL"},
              {"o,output", "the index file; one that exists is brought up to date", text(), "FILE"},
              {"features",
               "cls: the class token; mean: the mean of the patches; output: the output of a model "
               "without classes (default: output if the model has no classes, else cls if it "
               "has a class token, else mean)",
               text(), "WHICH"},
              {"half", "numbers of 16 bits: half the size, about 3 digits"},
              {"retry-failed", "new attempt at images that could not be read"},
              {"restart", "a new file instead of the one that exists"},
              {"q,quiet", "no progress and notes"},
          });
  add_model_options(options);
}

UpdateSettings parse_update(const cxxopts::ParseResult& arguments) {
  UpdateSettings settings;
  if (!arguments.count("output"))
    fail_usage("no output given, expected -o FILE, such as -o photos.index");
  settings.output = arguments["output"].as<std::string>();
  if (settings.output.empty() || settings.output == "-")
    fail_usage("option '--output' got '", settings.output.string(), "', expected a file name");
  if (arguments.count("half")) settings.half = true;
  settings.restart = arguments.count("restart") != 0;
  settings.retry_failed = arguments.count("retry-failed") != 0;
  settings.quiet = arguments.count("quiet") != 0;
  check_folder_of(settings.output);
  return settings;
}

/// Every listed image once, under its absolute path: the file is read from other folders later.
void list_images(const InputSettings& inputs, UpdateSource& source) {
  std::unordered_set<std::string> seen;
  const StopSignals signals;
  const Listed listed = list_inputs(inputs, signals.flag(), [&](Input input) {
    input.path = fs::absolute(input.path).lexically_normal().string();
    if (seen.insert(input.path).second) source.items.push_back({.input = std::move(input)});
    return true;
  });
  if (source.items.empty())
    fail("no image found: the inputs hold no file that ends in ", data::kImageEndings);
  if (!listed.complete) return;
  for (const auto& operand : inputs.operands) {
    std::error_code ignored;
    fs::path path = fs::absolute(operand).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    if (fs::exists(path, ignored)) source.covers.push_back(std::move(path));
  }
}

int index_array(const cxxopts::ParseResult& arguments, const UpdateSettings& settings) {
  const auto& operands = arguments.unmatched();
  if (operands.size() != 1)
    fail_usage("got ", operands.size(), " inputs with a .npy file among them, expected it alone");
  for (const auto* option : {"model", "features", "image-size"})
    if (arguments.count(option))
      fail_usage("option '--", option,
                 "' cannot be used with a .npy file, which already has the features");
  check_outputs({settings.output}, {operands.front(), operands.front() + ".jsonl"});
  return update_index(settings, read_numpy_rows(operands.front()));
}

int run(const cxxopts::ParseResult& arguments) {
  const UpdateSettings settings = parse_update(arguments);
  const auto& operands = arguments.unmatched();
  if (std::ranges::any_of(operands, [](const auto& name) { return name.ends_with(".npy"); }))
    return index_array(arguments, settings);
  const ModelSettings model = parse_model_settings(arguments);
  std::optional<std::string> which;
  if (arguments.count("features"))
    which = parse_choice<std::string>("--features", arguments["features"].as<std::string>(),
                                      {{"cls", "cls"}, {"mean", "mean"}, {"output", "output"}});
  const InputSettings inputs{.operands = operands};
  check_operands(inputs);
  std::vector<fs::path> named = list_files(operands);
  named.insert(named.end(), operands.begin(), operands.end());
  check_outputs({settings.output}, named);
  UpdateSource source;
  const FeatureMaker maker(model, which);
  list_images(inputs, source);
  source.description = maker.description();
  source.width = maker.width();
  source.maker = &maker;
  source.model = &model;
  return update_index(settings, source);
}

}  // namespace

Command index_command() {
  return {
      .name = "index",
      .summary = "make an index of images, for search, duplicates, cluster and pick",
      .description =
          "Write the features of many images to one file, for vit search, duplicates, cluster and "
          "pick. The same command brings the file up to date: only new and changed images are "
          "computed. A run that was stopped is resumed.",
      .usage = "[-m MODEL] [OPTION...] INPUT... -o FILE",
      .examples = kExamples,
      .operands = {.least = 1,
                   .noun = "input",
                   .expected =
                       "folders, files, patterns, .tar files, @LIST, - or one .npy of vit embed"},
      .add_options = add_options,
      .run = run};
}

}  // namespace vit::tools
