#include "tools/heads/heads.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "patch/image/pixel_budget.h"
#include "tools/cli/check_output.h"
#include "tools/cli/explainable.h"
#include "tools/cli/image_input.h"
#include "tools/cli/model_files.h"
#include "tools/cli/model_options.h"
#include "tools/cli/progress.h"
#include "tools/cli/word_options.h"
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
              {"images", "a folder of images, one image, or - for one on standard input", text(),
               "PATH"},
              {"o,output",
               ".csv, .json, .png, .svg or .pdf (plots) or .html (report) (default: a table)",
               text(), "OUT"},
              {"limit", "most images to use", text(), "N"},
              {"importance-images",
               "images on which importance is measured by disabling each head; 0: none",
               text()->default_value("16"), "N"},
          });
  add_quiet_option(options);
  add_word_options(options);
  add_model_options(options);
  add_merge_option(options);
}

enum class OutputKind { kCsv, kJson, kPage, kPicture };

OutputKind kind_of(const std::string& output) {
  using enum OutputKind;
  return choose_by_ending<OutputKind>(output, {{".csv", kCsv},
                                               {".json", kJson},
                                               {".html", kPage},
                                               {".png", kPicture},
                                               {".jpg", kPicture},
                                               {".jpeg", kPicture},
                                               {".svg", kPicture},
                                               {".pdf", kPicture}});
}

Settings parse_settings(const cxxopts::ParseResult& arguments) {
  Settings settings;
  settings.model = parse_model_settings(arguments);
  settings.model.model = split_model(arguments, 0).model;
  if (!arguments.count("images")) fail_usage("no images given, expected --images FOLDER");
  settings.images = {arguments["images"].as<std::string>()};
  check_standard_input(settings.images);
  if (arguments.count("output")) settings.output = arguments["output"].as<std::string>();
  if (!settings.output.empty()) kind_of(settings.output);  // refuses other names
  if (arguments.count("limit"))
    settings.most_images = parse_count("--limit", arguments["limit"].as<std::string>(), 1, 1000000);
  settings.importance_images = parse_count(
      "--importance-images", arguments["importance-images"].as<std::string>(), 0, 1000000);
  return settings;
}

/// Shared by all images.
struct Inspection {
  const Classifier& classifier;
  const gradient::Network<float>* network;  ///< none: no estimates
  patch::DecodeOptions decoding;
  interpret::HeadReportBuilder builder;
  std::mutex mutex;  ///< of the builder, and of messages
  ProgressLine line;
  size_t done = 0;  ///< images
  bool failed = false;
};

interpret::AttentionMaps capture_named(Runner& runner, const std::string& file) {
  try {
    return interpret::capture(runner);
  } catch (const Error& error) {
    fail_at(file, error.what());
  }
}

void inspect_image(Inspection& inspection, Runner& runner, const std::string& file, bool measure) {
  const patch::Image image = read_image_input(file, inspection.decoding);
  if (!image.damage.empty()) {
    const std::lock_guard lock(inspection.mutex);
    inspection.line.clear();
    say_damage(file, image);
  }
  runner.prepare(image);
  const interpret::AttentionMaps maps = capture_named(runner, shown_name(file));
  const interpret::AttentionMeasures measures = interpret::measure_attention(maps);
  std::vector<interpret::HeadEffect> effects;
  std::vector<double> estimates;
  if (measure) {
    effects = interpret::measure_heads(runner);
    if (inspection.network != nullptr) {
      interpret::Explanation explanation(*inspection.network, runner.patches());
      const auto best = std::ranges::max_element(maps.output) - maps.output.begin();
      estimates = explanation.head_estimates(static_cast<size_t>(best));
    }
  }
  const std::lock_guard lock(inspection.mutex);
  inspection.builder.add(maps, measures);
  if (!effects.empty()) inspection.builder.add_effects(effects);
  if (!estimates.empty()) inspection.builder.add_estimates(estimates);
}

void inspect_all(Inspection& inspection, const std::vector<std::string>& files, size_t measured) {
  inspection.classifier.for_each(files.size(), [&](size_t i, Runner& runner) {
    try {
      inspect_image(inspection, runner, files[i], i < measured);
    } catch (const Error& error) {
      const std::lock_guard lock(inspection.mutex);
      inspection.line.clear();
      write_message(printable(error.what()));
      inspection.failed = true;
    }
    const std::lock_guard lock(inspection.mutex);
    ++inspection.done;
    inspection.line.update(
        [&](size_t) { return count_text("heads of images", inspection.done, files.size()); });
  });
}

std::vector<fs::path> inputs_of(const Settings& settings, const std::vector<std::string>& files) {
  std::vector<fs::path> inputs(files.begin(), files.end());
  inputs.push_back(weights::find_model(settings.model.model));
  return inputs;
}

std::string bytes_for(const std::string& output, const NamedReport& named,
                      const interpret::HeadReportBuilder& builder) {
  switch (kind_of(output)) {
    case OutputKind::kCsv:
      return heads_csv(named);
    case OutputKind::kJson:
      return heads_json(named);
    case OutputKind::kPage:
      return heads_page(named, matrix_pictures(named.report, builder.mean_attention()));
    case OutputKind::kPicture:
      break;
  }
  return encode_picture(heads_plots(named), fs::path(output).extension().string());
}

struct LoadedModel {
  Classifier classifier;
  std::optional<gradient::Network<float>> network{};  ///< none: no estimates
};

LoadedModel load_model(const Settings& settings) {
  const weights::Checkpoint checkpoint = open_model(settings.model);
  LoadedModel loaded{load_classifier(checkpoint, settings.model)};
  check_attention_size(loaded.classifier);
  if (settings.importance_images != 0 &&
      explainable(checkpoint.config, settings.model.classifier.merge_tokens))
    loaded.network = gradient::load_network<float>(checkpoint);
  return loaded;
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
  const LoadedModel loaded = load_model(settings);
  const Classifier& classifier = loaded.classifier;
  patch::PixelBudget budget(settings.model.max_pixels);
  Inspection inspection{.classifier = classifier,
                        .network = loaded.network ? &*loaded.network : nullptr,
                        .decoding = settings.model.decoding(&budget),
                        .builder = interpret::HeadReportBuilder(classifier.config()),
                        .mutex = {},
                        .line = ProgressLine()};
  inspect_all(inspection, files, settings.importance_images);
  inspection.line.clear();
  const size_t merged = settings.model.classifier.merge_tokens;
  const NamedReport named{
      shown_model(settings.model.model, classifier) +
          (merged == 0 ? "" : ", merging " + std::to_string(merged) + " tokens after each layer"),
      inspection.builder.report(), found.skipped};
  if (!settings.model.quiet) say_skipped(found.skipped);
  if (named.report.images == 0) return 1;
  if (settings.output.empty())
    write_output(heads_table(named));
  else
    write_file(settings.output, bytes_for(settings.output, named, inspection.builder));
  return inspection.failed ? 1 : 0;
}

}  // namespace

Command heads_command() {
  return {.name = "heads",
          .summary = "describe every attention head of a model",
          .description = "Describe every attention head of a model, over a set of images.",
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
