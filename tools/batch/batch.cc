#include "tools/batch/batch.h"

#include <algorithm>

#include "patch/image/pixel_budget.h"
#include "tools/batch/inputs/glob.h"
#include "tools/batch/results/header.h"
#include "tools/batch/run.h"
#include "tools/batch/sorting.h"
#include "tools/cli/check_output.h"
#include "tools/output/terminal.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamples =
    "  vit batch -m deit_tiny_patch16_224 photos/ -o classes.csv\n"
    "  vit batch -m deit_tiny_patch16_224 'photos/**/*.jpg' shard-0001.tar @more.txt -o "
    "classes.db\n"
    "  find photos -name '*.jpg' -print0 | vit batch -m deit_tiny_patch16_224 -0 - -o - | grep "
    "tabby\n"
    "  vit batch -m deit_tiny_patch16_224 photos/ -o classes.csv --link-to sorted\n"
    "  mpirun -n 4 vit batch -m deit_tiny_patch16_224 photos/ -o classes.csv && vit join "
    "classes.csv\n";

struct BatchSettings {
  ModelSettings model;
  RunSettings run;
  size_t top = 5;
  float least = 0.0f;  ///< probability that a class must have to be named
  SortBy sort = SortBy::kNothing;
  fs::path sort_folder;
};

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"m,model", kModelHelp, text(), "MODEL"},
              {"o,output",
               "file for the rows: .csv, .jsonl, .db (SQLite), or - for JSONL on "
               "standard output",
               text(), "OUT"},
              {"k,top", "classes per image", text()->default_value("5"), "N"},
              {"min-probability", "smallest probability of a class to report, 0 to 1",
               text()->default_value("0"), "P"},
              {"copy-to",
               "copy each file into a folder of its class under DIR, also those of rows that are "
               "in OUT already",
               text(), "DIR"},
              {"link-to", "symbolic links in the same folders instead of copies", text(), "DIR"},
              {"csv-safe", "apostrophe before cells that spreadsheets would read as formulas"},
          });
  add_temperature_option(options);
  add_run_options(options);
  add_shard_options(options);
  add_model_options(options);
  add_merge_option(options);
}

ResultKind kind_of(const fs::path& output) {
  using enum ResultKind;
  return choose_by_ending<ResultKind>(
      output, {{".csv", kCsv}, {".jsonl", kJsonl}, {".db", kSqlite}, {"-", kStandardOutput}});
}

bool is_within(const fs::path& path, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return false;
  const auto relative =
      fs::weakly_canonical(path, ignored).lexically_relative(fs::weakly_canonical(folder, ignored));
  return !relative.empty() && *relative.begin() != "..";
}

void choose_sorting(const cxxopts::ParseResult& arguments, BatchSettings& settings) {
  const bool copy = arguments.count("copy-to") != 0, link = arguments.count("link-to") != 0;
  if (copy && link) fail_usage("--copy-to and --link-to given, expected one of them");
  if (!copy && !link) return;
  settings.sort = copy ? SortBy::kCopy : SortBy::kLink;
  settings.sort_folder = arguments[copy ? "copy-to" : "link-to"].as<std::string>();
  for (const auto& operand : settings.run.inputs.operands)
    if (is_within(settings.sort_folder, operand) ||
        (is_glob(operand) && takes_files_below(operand, settings.sort_folder)))
      fail_usage("option '--", copy ? "copy-to" : "link-to", "' got '",
                 settings.sort_folder.string(), "', which is inside the input '", operand,
                 "': the sorted files would become inputs; give a folder outside of it");
}

BatchSettings parse_batch(const cxxopts::ParseResult& arguments) {
  BatchSettings settings;
  settings.model = parse_model_settings(arguments);
  settings.top = parse_count("--top", arguments["top"].as<std::string>(), 1, 1'000'000);
  settings.least = static_cast<float>(
      parse_probability("--min-probability", arguments["min-probability"].as<std::string>()));
  settings.run = parse_run_settings(arguments, settings.model.classifier.threads);
  set_kind(settings.run, kind_of(settings.run.output));
  settings.run.shape.csv_safe = arguments.count("csv-safe") != 0;
  if (settings.run.shape.csv_safe && settings.run.kind != ResultKind::kCsv)
    fail_usage("--csv-safe applies to CSV only, expected -o FILE.csv");
  choose_sorting(arguments, settings);
  return settings;
}

void answer(const Classifier& classifier, const BatchSettings& settings,
            const patch::DecodeOptions& decoding, Row& row) {
  const Image image = load_image(row, decoding, settings.run.strict);
  const auto logits = classifier.logits({&image, 1});
  check_answer(logits.front());
  row.predictions = classifier.top(classifier.probabilities(logits.front()), settings.top);
  const auto unlikely = [&](const Prediction& p) { return !(p.probability >= settings.least); };
  std::erase_if(row.predictions, unlikely);
}

/// The rows of earlier runs, which need no inference.
void sort_earlier(const BatchSettings& settings, const Json& header, Sorting& sorting,
                  const std::atomic<bool>& stop) {
  const RunSettings& run = settings.run;
  if (settings.sort == SortBy::kNothing || run.restart || !fs::exists(run.output)) return;
  Results results(run.output, run.kind, run.shape);
  const auto stored = results.read_header();
  if (!stored) return;
  check_header(run.output, results, *stored, with_shard(header, run.shard));
  sort_rows(results, sorting, stop);
  if (!sorting.problem().empty()) write_message(sorting.problem());
}

int run(const cxxopts::ParseResult& arguments) {
  BatchSettings settings = parse_batch(arguments);
  // One image per worker from file to answer: each decodes while others compute, and the kernels
  // need not wait for each other.
  settings.model.classifier.threads = 1;
  const Classifier classifier = load_with_classes(settings.model);
  const size_t classes = classifier.config().head.classes;
  settings.top = std::min(settings.top, classes);
  settings.run.shape.top = settings.top;
  Sorting sorting(settings.sort, settings.sort_folder, class_folders(classifier.labels(), classes));
  patch::PixelBudget budget(settings.model.max_pixels);
  Json wanted;
  wanted["top"] = settings.top;
  wanted["min_probability"] = settings.least;
  if (settings.run.shape.csv_safe) wanted["csv_safe"] = true;
  const Json header = make_header("batch", settings.model, classifier, wanted);
  return run_rows(settings.run, {.header = header,
                                 .answer =
                                     [&](Row& row, const std::atomic<bool>& stop) {
                                       answer(classifier, settings,
                                              settings.model.decoding(&budget, &stop), row);
                                     },
                                 .before_writing = [&](Row& row) { sorting.place(row); },
                                 .before_run =
                                     [&](const std::atomic<bool>& stop) {
                                       if (settings.run.kind != ResultKind::kStandardOutput)
                                         sort_earlier(settings, header, sorting, stop);
                                     },
                                 .closing_text = [&] { return sorting.summary(settings.least); }});
}

}  // namespace

Command batch_command() {
  return {
      .name = "batch",
      .summary = "classify whole folders: one row per image, into a file",
      .description =
          "Name the most likely classes of many images: one row per input, even if it cannot be "
          "read.\nThe same command resumes a run that was stopped.",
      .usage = "[-m MODEL] [OPTION...] INPUT... -o OUT",
      .examples = kExamples,
      .operands = kInputOperands,
      .add_options = add_options,
      .run = run};
}

}  // namespace vit::tools
