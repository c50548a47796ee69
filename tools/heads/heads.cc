#include "tools/heads/heads.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "patch/image/pixel_budget.h"
#include "tools/cli/check_output.h"
#include "tools/cli/gradient_model.h"
#include "tools/cli/image_input.h"
#include "tools/cli/model_options.h"
#include "tools/heads/output.h"
#include "tools/output/file.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "vit/base/atomic_file.h"
#include "vit/interpret/head_report.h"
#include "vit/interpret/relevance.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamples =
    "  vit heads -m deit_tiny_patch16_224 --images photos/\n"
    "  vit heads -m deit_tiny_patch16_224 --images photos/ -o heads.html\n"
    "  vit heads -m deit_tiny_patch16_224 --images photos/ -o heads.csv --importance-images 100\n";

struct Settings {
  ModelSettings model;
  std::vector<std::string> images;
  std::string output;
  size_t most_images = 0;  ///< 0: all
  size_t importance_images = 16;
};

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"m,model", kModelHelp, text(), "MODEL"},
              {"images", "a folder of images, or one image", text(), "PATH"},
              {"o,output", "a table unless given; .csv, .json, .png (plots) or .html (report)",
               text(), "OUT"},
              {"limit", "no more images than this", text(), "N"},
              {"importance-images",
               "silence each head on this many of them and compare the answers; 0: measure none",
               text()->default_value("16"), "N"},
          });
  add_quiet_option(options);
  add_model_options(options);
}

void check_output(const std::string& output) {
  constexpr std::array<std::string_view, 5> kEndings{".csv", ".json", ".png", ".jpg", ".html"};
  const std::string ending = fs::path(output).extension().string();
  if (!output.empty() && std::ranges::find(kEndings, ending) == kEndings.end())
    fail_usage("option '--output' got '", output,
               "', expected a name that ends in .csv, .json, .png or .html");
}

Settings parse_settings(const cxxopts::ParseResult& arguments) {
  Settings settings;
  settings.model = parse_model_settings(arguments);
  settings.model.model = split_model(arguments, 0).model;
  if (!arguments.count("images")) fail_usage("no images given, expected --images FOLDER");
  settings.images = {arguments["images"].as<std::string>()};
  if (arguments.count("output")) settings.output = arguments["output"].as<std::string>();
  check_output(settings.output);
  if (arguments.count("limit"))
    settings.most_images = parse_count("--limit", arguments["limit"].as<std::string>(), 1, 1000000);
  settings.importance_images = parse_count(
      "--importance-images", arguments["importance-images"].as<std::string>(), 0, 1000000);
  return settings;
}

/// Everything that the images of a census share.
struct Inspection {
  const Classifier& classifier;
  const gradient::Network<float>* network;  ///< none: no estimates
  patch::DecodeOptions decoding;
  interpret::HeadCensus census;
  std::mutex mutex;  ///< of the census, and of messages
  bool failed = false;
};

interpret::AttentionMaps capture_named(Runner& runner, const std::string& file) {
  try {
    return interpret::capture(runner);
  } catch (const Error& error) {
    fail(file, ": ", error.what());
  }
}

void inspect_image(Inspection& inspection, Runner& runner, const std::string& file, bool measure) {
  runner.prepare(patch::read_image(file, inspection.decoding));
  const interpret::AttentionMaps maps = capture_named(runner, file);
  std::vector<interpret::HeadEffect> effects;
  std::vector<double> estimates;
  if (measure) {
    effects = interpret::measure_heads(runner);
    if (inspection.network != nullptr) {
      interpret::Explanation explanation(*inspection.network, runner.workspace().patches);
      const auto best = std::ranges::max_element(maps.output) - maps.output.begin();
      estimates = explanation.head_effects(static_cast<size_t>(best));
    }
  }
  const std::lock_guard lock(inspection.mutex);
  inspection.census.add(maps);
  if (!effects.empty()) inspection.census.add_effects(effects);
  if (!estimates.empty()) inspection.census.add_estimates(estimates);
}

void inspect_all(Inspection& inspection, const std::vector<std::string>& files, size_t measured) {
  inspection.classifier.for_each(files.size(), [&](size_t i, Runner& runner) {
    try {
      inspect_image(inspection, runner, files[i], i < measured);
    } catch (const Error& error) {
      const std::lock_guard lock(inspection.mutex);
      write_message(printable(error.what()));
      inspection.failed = true;
    }
  });
}

std::vector<fs::path> inputs_of(const Settings& settings, const std::vector<std::string>& files) {
  std::vector<fs::path> inputs(files.begin(), files.end());
  inputs.push_back(weights::find_model(settings.model.model));
  return inputs;
}

std::string bytes_for(const std::string& output, const NamedReport& named) {
  const std::string ending = fs::path(output).extension().string();
  if (ending == ".csv") return heads_csv(named);
  if (ending == ".json") return heads_json(named);
  if (ending == ".html") return heads_page(named);
  return encode_picture(heads_plots(named), ending);
}

int run(const cxxopts::ParseResult& arguments) {
  const Settings settings = parse_settings(arguments);
  check_folder_of(settings.output);
  if (!settings.output.empty()) remove_abandoned(fs::path(settings.output).parent_path());
  ImageFiles found = image_files(settings.images);
  std::vector<std::string>& files = found.files;
  check_outputs({settings.output}, inputs_of(settings, files));
  if (settings.most_images != 0 && files.size() > settings.most_images)
    files.resize(settings.most_images);
  const Classifier classifier = load_classifier(settings.model);
  check_attention_size(classifier);
  std::optional<gradient::Network<float>> network;
  if (settings.importance_images != 0 && explainable(classifier.config()))
    network = load_network(settings.model, classifier);
  patch::PixelBudget budget(settings.model.max_pixels);
  Inspection inspection{.classifier = classifier,
                        .network = network ? &*network : nullptr,
                        .decoding = settings.model.decoding(&budget),
                        .census = interpret::HeadCensus(classifier.config()),
                        .mutex = {}};
  inspect_all(inspection, files, settings.importance_images);
  const NamedReport named{classifier.name(), inspection.census.report(), found.skipped};
  if (!settings.model.quiet) say_skipped(found.skipped);
  if (named.report.images == 0) return 1;
  if (settings.output.empty())
    write_output(heads_table(named));
  else
    write_file(settings.output, bytes_for(settings.output, named));
  return inspection.failed ? 1 : 0;
}

}  // namespace

Command heads_command() {
  return {.name = "heads",
          .summary = "say what every attention head does",
          .description = "Say what every attention head of a model does, over a set of images.",
          .usage = "[-m MODEL] --images FOLDER [OPTION...]",
          .examples = kExamples,
          .operands = {.most = 1,
                       .noun = "operand",
                       .expected = "one model at most; images follow --images",
                       .model_first = true},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
