#include "tools/eval/eval.h"

#include <filesystem>

#include "patch/image/pixel_budget.h"
#include "tools/cli/check_output.h"
#include "tools/cli/groups.h"
#include "tools/cli/image_input.h"
#include "tools/cli/model_files.h"
#include "tools/cli/model_options.h"
#include "tools/cli/progress.h"
#include "tools/cli/stop_signals.h"
#include "tools/cli/word_options.h"
#include "tools/eval/data.h"
#include "tools/eval/predictions.h"
#include "tools/eval/report.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit eval -m deit_tiny_patch16_224 imagenet/val\n"
    "  vit eval -m mine.safetensors photos/ -o report\n"
    "  vit eval -m mine.safetensors labels.csv --json > figures.json\n"
    "  vit eval -m deit_tiny_patch16_224 imagenet/val --groups dog,cat,bird,vehicle\n"
    "  vit eval -m mine.safetensors photos/ --calibrate calibrated.safetensors\n"
    "\n"
    "DATA is a folder of class folders (named by label, WordNet id or index), a folder of\n"
    "images whose names begin with a WordNet id, or a CSV file of file,label.\n";

struct Settings {
  ModelSettings model;
  std::string data;
  std::string output;
  std::string calibrated;
  EvaluationOptions evaluation;
  std::vector<GroupSpec> groups;
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
           "a folder for index.html (figures, worst mistakes), confusion.csv, confusion.png, "
           "classes.csv and predictions.csv; or a name that ends in .html for the page alone",
           text(), "OUT"},
          {"worst", "mistakes shown on the page", text()->default_value("24"), "N"},
          {"tta",
           "test-time augmentation: none, or mirror to average the answers for the image and its "
           "mirror image, at twice the time (none)",
           text(), "VIEWS"},
          {"calibrate",
           "fit a temperature to these images and write the model with it to FILE: the same "
           "classes, and a confidence that agrees with how often they are right",
           text(), "FILE"},
          {"abstain-below",
           "one more row in the table of confidence levels: answers of at least P, 0 to 1", text(),
           "P"},
          {"force", "overwrite the FILE of --calibrate"},
          {"json", "one JSON document instead of text"},
          {"csv-safe",
           "apostrophe before cells of the .csv files that spreadsheets would read as formulas"},
      });
  add_groups_option(options);
  add_temperature_option(options);
  add_quiet_option(options);
  add_word_options(options);
  add_model_options(options);
  add_merge_option(options);
}

void check_calibration(const Settings& settings, bool force) {
  if (settings.calibrated.empty()) return;
  if (settings.evaluation.views != Views::kImage)
    fail_usage("--calibrate is for the answers to single images; leave out --tta mirror");
  if (settings.model.classifier.temperature != 1.0f)
    fail_usage("--calibrate fits the temperature itself; leave out --temperature");
  if (!settings.groups.empty())
    fail_usage("--calibrate fits the model's own classes; leave out --groups");
  if (!settings.calibrated.ends_with(".safetensors"))
    fail_usage("option '--calibrate' got '", settings.calibrated,
               "', expected a file that ends in .safetensors");
  check_folder_of(settings.calibrated);
  if (std::filesystem::exists(settings.calibrated) && !force)
    fail_at(settings.calibrated, "exists already; --force overwrites it");
}

Settings parse_settings(const cxxopts::ParseResult& arguments) {
  Settings settings;
  settings.model = parse_model_settings(arguments);
  settings.data = arguments.unmatched().front();
  if (arguments.count("output")) settings.output = arguments["output"].as<std::string>();
  for (const char* ending : {".txt", ".csv", ".json", ".png", ".jpg", ".pdf", ".htm", ".md"})
    if (settings.output.ends_with(ending))
      fail_usage(
          "option '--output' got '", settings.output,
          "', expected a folder, or a name that ends in .html for the page alone",
          std::string_view(ending) == ".json" ? "; --json writes JSON to standard output" : "");
  settings.evaluation.worst = parse_count("--worst", arguments["worst"].as<std::string>(), 0, 1000);
  if (arguments.count("tta"))
    settings.evaluation.views = parse_choice<Views>("--tta", arguments["tta"].as<std::string>());
  if (arguments.count("abstain-below"))
    settings.evaluation.abstain_below =
        parse_probability("--abstain-below", arguments["abstain-below"].as<std::string>());
  if (arguments.count("calibrate")) settings.calibrated = arguments["calibrate"].as<std::string>();
  settings.groups = parse_groups(arguments);
  check_calibration(settings, arguments.count("force") != 0);
  settings.json = arguments.count("json") != 0;
  settings.csv_safe = arguments.count("csv-safe") != 0;
  if (settings.csv_safe && (settings.output.empty() || settings.output.ends_with(".html")))
    fail_usage("--csv-safe applies to the .csv files of a report folder, expected -o FOLDER");
  return settings;
}

std::string progress_of(const Tally& tally, std::uint64_t images, double seconds) {
  const double rate = static_cast<double>(tally.images()) / seconds;
  const std::string left = time_left(tally.images(), images, rate);
  return format_count(tally.images()) + " of " + format_count(images) + " images  " +
         format_percent(tally.top1()) + " right  " + formatted("%.1f images/s", rate) +
         (left.empty() ? "" : "  " + left);
}

/// What answers are written to as they arrive.
struct Outputs {
  StopSignals signals;  ///< end the run between two rounds, before any file gets its name
  std::optional<PredictionsFile> predictions;
  std::optional<TemperatureFit> fit;
};

/// Ends an evaluation that a signal stopped.
struct Stopped {
  std::uint64_t images = 0;  ///< answered until then
  int signal = 0;
};

Evaluation run_evaluation(const Settings& settings, const Classifier& classifier,
                          const LabelledFiles& files, Outputs& outputs) {
  ProgressLine line;
  EvaluationHooks hooks{
      .failed =
          [&](const Failure& failure) {
            line.clear();
            write_message(printable(failure.name + ": " + failure.reason));
          },
      .progressed =
          [&](const Tally& tally) {
            if (const int signal = outputs.signals.number(); signal != 0)
              throw Stopped{tally.images(), signal};
            line.update([&](size_t) { return progress_of(tally, files.images, line.seconds()); });
          }};
  if (outputs.predictions)
    hooks.answered = [&](const LabelledImage& image, const Answer& answer) {
      outputs.predictions->add(image, answer);
    };
  EvaluationOptions options = settings.evaluation;
  options.fit = outputs.fit ? &*outputs.fit : nullptr;
  return evaluate(classifier, files.source, options, hooks);
}

void check_model(const Settings& settings, const Classifier& classifier) {
  if (classifier.config().head.multi_label && !settings.calibrated.empty())
    fail_at(model_place(settings.model, classifier.path()), classifier.name(),
            " gives every class a probability of its own; a temperature is for a softmax");
}

/// The classes, or groups of them, that the labels of images name.
ClassNames truths(const Settings& settings, const Classifier& classifier,
                  const std::optional<Groups>& groups) {
  const ClassNames names(shown_model(settings.model.model, classifier), classifier.labels(),
                         classifier.config().head.classes, classifier.wordnet_ids());
  return groups ? names.grouped(groups->names(), groups->group_of()) : names;
}

void check_all_outputs(const Settings& settings, const Classifier& classifier) {
  std::vector<std::filesystem::path> outputs;
  if (!settings.output.empty()) outputs = evaluation_files(settings.output);
  if (!settings.calibrated.empty()) outputs.emplace_back(settings.calibrated);
  check_outputs(outputs, {settings.data, classifier.path()});
}

void write_calibrated(const Settings& settings, const weights::Checkpoint& stored,
                      const TemperatureFit& fit) {
  const double temperature = fit.temperature();
  save_calibrated(stored, temperature, settings.calibrated);
  if (!settings.model.quiet)
    write_message(printable(settings.calibrated) + ": the model with its logits divided by " +
                  formatted("%.4g", temperature));
}

/// `stored`: the model at the file's own input size, if it is needed later.
Classifier load(const Settings& settings, std::optional<weights::Checkpoint>& stored) {
  weights::Checkpoint checkpoint = open_stored(settings.model);
  if (!settings.calibrated.empty()) stored = checkpoint;
  set_input(checkpoint, settings.model);
  check_has_classes(checkpoint, settings.model);
  return load_classifier(checkpoint, settings.model);
}

int run_all(const cxxopts::ParseResult& arguments) {
  Settings settings = parse_settings(arguments);
  std::optional<weights::Checkpoint> stored;  // to be calibrated
  const Classifier classifier = load(settings, stored);
  check_model(settings, classifier);
  const auto groups = make_groups(settings.groups, classifier, settings.model.quiet);
  const ClassNames names = truths(settings, classifier, groups);
  check_all_outputs(settings, classifier);
  patch::PixelBudget budget(settings.model.max_pixels);
  const LabelledFiles files = open_labelled(settings.data, names, settings.model.decoding(&budget));
  Outputs outputs;
  if (const auto path = predictions_file(settings.output); !path.empty())
    outputs.predictions.emplace(path, names, settings.csv_safe);
  if (!settings.calibrated.empty()) outputs.fit.emplace();
  if (groups) settings.evaluation.groups = &*groups;
  const Evaluation evaluation = run_evaluation(settings, classifier, files, outputs);
  if (evaluation.tally.images() == 0)
    fail_at(settings.data, "none of ", evaluation.unreadable, " images could be read");
  const EvaluationReport report{settings.data, names, evaluation, files.skipped, settings.csv_safe};
  write_output(settings.json ? evaluation_json(report) : evaluation_text(report));
  if (outputs.predictions) outputs.predictions->commit();
  if (!settings.output.empty()) write_evaluation(settings.output, report, files.source.read);
  if (stored) write_calibrated(settings, *stored, *outputs.fit);
  if (!settings.model.quiet) say_skipped(files.skipped);
  return evaluation.unreadable == 0 ? 0 : 1;
}

int run(const cxxopts::ParseResult& arguments) {
  try {
    return run_all(arguments);
  } catch (const Stopped& stopped) {
    write_message("stopped after " + format_count(stopped.images) + " images; nothing was written");
    return 128 + stopped.signal;
  }
}

}  // namespace

Command eval_command() {
  return {
      .name = "eval",
      .summary = "measure the accuracy of a model on labelled images",
      .description = "Measure the accuracy of a model on labelled images, and show its mistakes.",
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
