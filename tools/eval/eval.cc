#include "tools/eval/eval.h"

#include <filesystem>

#include "patch/image/pixel_budget.h"
#include "tools/cli/check_output.h"
#include "tools/cli/image_input.h"
#include "tools/cli/model_options.h"
#include "tools/cli/progress.h"
#include "tools/eval/data.h"
#include "tools/eval/report.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "vit/base/error.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit eval -m deit_tiny_patch16_224 imagenet/val\n"
    "  vit eval -m mine.safetensors photos/ -o report\n"
    "  vit eval -m mine.safetensors labels.csv --json > figures.json\n"
    "\n"
    "DATA is a folder of class folders (named by label, WordNet id or index), a folder of\n"
    "images whose names begin with a WordNet id, or a CSV file of file,label.\n";

struct Settings {
  ModelSettings model;
  std::string data;
  std::string output;
  size_t worst = 24;
  Views views = Views::kImage;
  bool json = false;
  bool csv_safe = false;
};

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "",
      {
          {"m,model", kModelHelp, text(), "MODEL"},
          {"o,output",
           "a folder for index.html (figures, worst mistakes), confusion.csv, confusion.png and "
           "classes.csv; or a name that ends in .html for the page alone",
           text(), "OUT"},
          {"worst", "mistakes shown on the page", text()->default_value("24"), "N"},
          {"tta",
           "views of an image whose answers are averaged: none, or mirror for the image and its "
           "mirror image at twice the time (none)",
           text(), "VIEWS"},
          {"json", "one JSON document instead of text"},
          {"csv-safe",
           "an apostrophe before cells of the .csv files that spreadsheets take for formulas"},
      });
  add_quiet_option(options);
  add_model_options(options);
}

Settings parse_settings(const cxxopts::ParseResult& arguments) {
  Settings settings;
  settings.model = parse_model_settings(arguments);
  settings.data = arguments.unmatched().front();
  if (arguments.count("output")) settings.output = arguments["output"].as<std::string>();
  settings.worst = parse_count("--worst", arguments["worst"].as<std::string>(), 0, 1000);
  if (arguments.count("tta"))
    settings.views =
        parse_choice<Views>("--tta", arguments["tta"].as<std::string>(),
                            {{"none", Views::kImage}, {"mirror", Views::kImageAndMirror}});
  settings.json = arguments.count("json") != 0;
  settings.csv_safe = arguments.count("csv-safe") != 0;
  if (settings.csv_safe && (settings.output.empty() || settings.output.ends_with(".html")))
    fail_usage("--csv-safe is for the .csv files of a report folder, expected -o FOLDER");
  return settings;
}

std::string progress_of(const Tally& tally, std::uint64_t images, double seconds) {
  return format_count(tally.images()) + " of " + format_count(images) + " images  " +
         format_percent(tally.top1()) + " right  " +
         formatted("%.0f images/s", static_cast<double>(tally.images()) / seconds);
}

Evaluation run_evaluation(const Settings& settings, const Classifier& classifier,
                          const LabelledFiles& files) {
  ProgressLine line;
  const EvaluationHooks hooks{
      .failed =
          [&](const Failure& failure) {
            line.clear();
            write_message(printable(failure.name + ": " + failure.reason));
          },
      .progressed =
          [&](const Tally& tally) {
            line.update([&](size_t) { return progress_of(tally, files.images, line.seconds()); });
          }};
  return evaluate(classifier, files.source, settings.worst, hooks, settings.views);
}

int run(const cxxopts::ParseResult& arguments) {
  const Settings settings = parse_settings(arguments);
  const Classifier classifier = load_classifier(settings.model);
  const size_t classes = classifier.config().head.classes;
  if (classes == 0)
    fail(settings.model.model, ": ", classifier.name(), " has no classifier, its output is ",
         classifier.config().outputs(), " features; give a model with a classification head");
  const ClassNames names(classifier.name(), classifier.labels(), classes);
  if (!settings.output.empty())
    check_outputs(evaluation_files(settings.output),
                  {settings.data, weights::find_model(settings.model.model)});
  patch::PixelBudget budget(settings.model.max_pixels);
  const LabelledFiles files = open_labelled(settings.data, names, settings.model.decoding(&budget));
  const Evaluation evaluation = run_evaluation(settings, classifier, files);
  if (evaluation.tally.images() == 0)
    fail(settings.data, ": none of ", evaluation.unreadable, " images could be read");
  const EvaluationReport report{settings.data, names, evaluation, files.skipped, settings.csv_safe};
  write_output(settings.json ? evaluation_json(report) : evaluation_text(report));
  if (!settings.output.empty()) write_evaluation(settings.output, report, files.source.read);
  if (!settings.model.quiet) say_skipped(files.skipped);
  return evaluation.unreadable == 0 ? 0 : 1;
}

}  // namespace

Command eval_command() {
  return {.name = "eval",
          .summary = "say how often a model is right, and where it is wrong",
          .description = "Say how often a model is right, and where it is wrong.",
          .usage = "[-m MODEL] [OPTION...] DATA",
          .examples = kExamples,
          .operands = {.least = 1,
                       .most = 1,
                       .noun = "operand",
                       .expected = "one: a folder of class folders, or a CSV file of file,label"},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
