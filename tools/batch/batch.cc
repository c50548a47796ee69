#include "tools/batch/batch.h"

#include <algorithm>

#include "patch/image/pixel_budget.h"
#include "tools/batch/classified_boxes.h"
#include "tools/batch/exports/exports.h"
#include "tools/batch/inputs/boxes.h"
#include "tools/batch/inputs/glob.h"
#include "tools/batch/results/header.h"
#include "tools/batch/run.h"
#include "tools/batch/sorting/sort_options.h"
#include "tools/cli/check_output.h"
#include "tools/cli/groups.h"
#include "tools/cli/sequence_option.h"
#include "tools/cli/word_options.h"
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
    "  vit batch -m deit_tiny_patch16_224 photos/ -o animals.csv --groups dog,cat,bird\n"
    "  vit batch -m deit_tiny_patch16_224 clip.mp4 -o clip.csv --every 1s\n"
    "  vit batch -m deit_tiny_patch16_224 photos/ --boxes md.json -o classified.json\n"
    "  mpirun -n 4 vit batch -m deit_tiny_patch16_224 photos/ -o classes.csv && vit join "
    "classes.csv\n";

constexpr int kStopped = 128;  // plus the number of the signal: exit status of a stopped run

struct BatchSettings {
  std::optional<ExportKind> exported;  ///< made from the rows when they are complete
  fs::path exported_to;
  ModelSettings model;
  RunSettings run;
  size_t top = 5;
  float least = 0.0f;  ///< probability that a class must have to be named
  SortSettings sort;
  std::vector<GroupSpec> groups;
  size_t max_patches = 0;     ///< 0: one size for all images
  bool writes_boxes = false;  ///< MegaDetector's results with classes
};

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "",
      {
          {"m,model", kModelHelp, text(), "MODEL"},
          {"o,output",
           "file for the rows: .csv, .jsonl, .db (SQLite), .parquet, .html (small pictures), or - "
           "for JSONL on standard output",
           text(), "OUT"},
          {"k,top", "classes per image", text()->default_value("5"), "N"},
          {"min-probability",
           "smallest probability of a class to report after the best one, 0 to 1",
           text()->default_value("0"), "P"},
          {"exif-columns",
           "columns for what the camera wrote: time, camera, latitude and longitude"},
          {"csv-safe", "apostrophe before cells that spreadsheets would read as formulas"},
      });
  add_sort_options(options);
  add_groups_option(options);
  add_temperature_option(options);
  add_box_options(options);
  add_run_options(options);
  add_shard_options(options);
  add_word_options(options);
  add_model_options(options);
  add_sequence_option(options);
  add_merge_option(options);
}

/// Pages and Parquet are made at the end; a JSONL file beside them keeps the rows.
fs::path rows_of_export(const fs::path& output) {
  return output.string() + ".rows.jsonl";
}

ResultKind kind_of(const fs::path& output) {
  using enum ResultKind;
  if (export_kind(output)) return kJsonl;
  return choose_by_ending<ResultKind>(output, {{".csv", kCsv},
                                               {".jsonl", kJsonl},
                                               {".db", kSqlite},
                                               {".parquet", kJsonl},
                                               {".html", kJsonl},
                                               {"-", kStandardOutput}});
}

bool is_within(const fs::path& path, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return false;
  const auto relative =
      fs::weakly_canonical(path, ignored).lexically_relative(fs::weakly_canonical(folder, ignored));
  return !relative.empty() && *relative.begin() != "..";
}

/// The folder whose sub-folders --keep-folders keeps.
std::string base_of(const std::string& operand) {
  std::error_code ignored;
  if (fs::is_directory(operand, ignored)) return operand;
  if (fs::exists(operand, ignored)) return operand + "!";  // of the members of an archive
  fs::path fixed;
  for (const auto& part : fs::path(operand)) {
    if (is_glob(part.string())) break;
    fixed /= part;
  }
  return fixed.empty() ? "." : fixed.string();
}

void choose_sorting(const cxxopts::ParseResult& arguments, BatchSettings& settings) {
  SortSettings& sort = settings.sort;
  sort = parse_sort_settings(arguments, {{"copy-to", SortBy::kCopy}, {"link-to", SortBy::kLink}});
  if (sort.by == SortBy::kNothing) return;
  const InputSettings& inputs = settings.run.inputs;
  if (inputs.boxes || inputs.every != 0)
    fail_usage("option '--", sort.by == SortBy::kCopy ? "copy-to" : "link-to",
               "' places files, but ",
               inputs.boxes ? "--boxes gives parts of images" : "--every gives frames of videos");
  sort.least = settings.least;
  for (const auto& operand : settings.run.inputs.operands) {
    if (is_within(sort.folder, operand) ||
        (is_glob(operand) && takes_files_below(operand, sort.folder)))
      fail_usage("option '--", sort.by == SortBy::kCopy ? "copy-to" : "link-to", "' got '",
                 sort.folder.string(), "', which is inside the input '", operand,
                 "': the sorted files would become inputs; give a folder outside of it");
    sort.bases.push_back(base_of(operand));
  }
}

void choose_export(BatchSettings& settings) {
  RunSettings& run = settings.run;
  settings.exported = export_kind(run.output);
  if (!settings.exported) return;
  if (run.shard)
    fail_usage("part ", run.shard->index, " of ", run.shard->count, " (", run.shard->source,
               ") cannot be a ", run.output.extension().string(),
               ", expected -o FILE.csv, .jsonl or .db; `vit export` makes it from the joined file");
  settings.exported_to = run.output;
  run.shown = run.output.string();
  run.output = rows_of_export(run.output);
}

BatchSettings parse_batch(const cxxopts::ParseResult& arguments) {
  BatchSettings settings;
  settings.model = parse_model_settings(arguments);
  settings.top = parse_count("--top", arguments["top"].as<std::string>(), 1, 1'000'000);
  settings.least = static_cast<float>(
      parse_probability("--min-probability", arguments["min-probability"].as<std::string>()));
  settings.run = parse_run_settings(arguments, settings.model.classifier.threads);
  settings.run.inputs.boxes = parse_boxes(arguments, settings.run.inputs);
  settings.writes_boxes = choose_box_output(settings.run);
  if (!settings.writes_boxes) {
    const ResultKind kind = kind_of(settings.run.output);
    choose_export(settings);
    set_kind(settings.run, kind);
  }
  settings.run.shape.facts = arguments.count("exif-columns") != 0;
  settings.run.shape.csv_safe = arguments.count("csv-safe") != 0;
  if (settings.run.shape.csv_safe && settings.run.kind != ResultKind::kCsv)
    fail_usage("--csv-safe applies to CSV only, expected -o FILE.csv");
  choose_sorting(arguments, settings);
  settings.groups = parse_groups(arguments);
  settings.max_patches = parse_max_patches(arguments);
  return settings;
}

ModelSettings on_one_thread(ModelSettings settings) {
  settings.classifier.threads = 1;
  return settings;
}

/// The model, and the groups of its classes if there are any.
struct Answerer {
  Classifier classifier;
  std::unique_ptr<SequenceModel> sequences;  ///< null: one size for all images
  std::optional<Groups> groups;

  /// One image per worker from file to answer: each decodes while others compute, and the kernels
  /// need not wait for each other. Images of different sizes share all workers.
  explicit Answerer(const BatchSettings& settings)
      : classifier(load_with_classes(on_one_thread(settings.model))),
        sequences(load_sequence_model(settings.model, settings.max_patches)),
        groups(make_groups(settings.groups, classifier, settings.run.quiet)) {}

  size_t classes() const { return groups ? groups->count() : classifier.config().head.classes; }
  ClassFolders folders() const {
    return class_folders(groups ? groups->names() : classifier.labels(), classes());
  }
};

void answer(const Answerer& model, const BatchSettings& settings,
            const patch::DecodeOptions& decoding, Row& row) {
  const Image image = load_image(row, decoding, settings.run);
  const std::vector<float> logits = model.sequences ? model.sequences->logits(image)
                                                    : model.classifier.logits({&image, 1}).front();
  check_answer(logits);
  row.predictions = top_answers(model.classifier, model.groups, logits, settings.top);
  // The best class stays: a row below the threshold still has its best guess.
  const auto unlikely = [&](const Prediction& p) { return !(p.probability >= settings.least); };
  const auto others = row.predictions.begin() + (row.predictions.empty() ? 0 : 1);
  row.predictions.erase(std::remove_if(others, row.predictions.end(), unlikely),
                        row.predictions.end());
}

/// The rows of earlier runs, which need no inference.
void sort_earlier(const BatchSettings& settings, const Json& header, Sorting& sorting,
                  const std::atomic<bool>& stop) {
  const RunSettings& run = settings.run;
  if (settings.sort.by == SortBy::kNothing || run.restart || !fs::exists(run.output)) return;
  Results results(run.output, run.kind, run.shape);
  const auto stored = results.read_header();
  if (!stored) return;
  check_header(run.output, results, *stored, with_shard(header, run.shard));
  sort_rows(results, sorting, stop);
  if (!sorting.problem().empty()) write_message(sorting.problem());
}

/// Returns `status`, the exit status of the run, unless a signal stops the export.
int write_export(const BatchSettings& settings, int status) {
  const StopSignals signals;
  const auto rows = export_rows(find_class_rows(settings.run.output),
                                {.output = settings.exported_to,
                                 .kind = *settings.exported,
                                 .threads = settings.run.size.workers,
                                 .max_pixels = settings.model.max_pixels,
                                 .exif = settings.model.exif,
                                 .quiet = settings.run.quiet},
                                signals);
  if (rows) return status;
  write_message("stopped; run the same command again to resume");
  return kStopped + signals.number();
}

int run(const cxxopts::ParseResult& arguments) {
  BatchSettings settings = parse_batch(arguments);
  const Answerer model(settings);
  settings.top = std::min(settings.top, model.classes());
  settings.run.shape.top = settings.top;
  Sorting sorting(settings.sort, model.folders());
  patch::PixelBudget budget(settings.model.max_pixels);
  Json wanted;
  wanted["top"] = settings.top;
  wanted["min_probability"] = settings.least;
  if (settings.run.shape.csv_safe) wanted["csv_safe"] = true;
  if (settings.run.shape.facts) wanted["exif_columns"] = true;
  if (model.sequences) wanted["max_patches"] = settings.max_patches;
  if (model.groups) wanted["groups"] = model.groups->to_json();
  if (const auto& boxes = settings.run.inputs.boxes) {
    wanted["boxes"] = boxes->digest();
    wanted["box_threshold"] = static_cast<float>(boxes->settings().threshold);
    wanted["box_category"] = boxes->settings().category;
  }
  Json header = make_header("batch", settings.model, model.classifier, wanted);
  match_output(settings.run, header);
  const int status = run_rows(
      settings.run, {.header = header,
                     .answer =
                         [&](Row& row, const std::atomic<bool>& stop) {
                           answer(model, settings, settings.model.decoding(&budget, &stop), row);
                         },
                     .before_writing = [&](Row& row) { sorting.place(row); },
                     .before_run =
                         [&](const std::atomic<bool>& stop) {
                           if (settings.run.kind != ResultKind::kStandardOutput)
                             sort_earlier(settings, header, sorting, stop);
                         },
                     .closing_text = [&] { return sorting.summary(); }});
  if (settings.writes_boxes && status < kStopped) {
    const std::string text = write_classified_boxes(settings.run, model.classifier.name());
    if (!settings.run.quiet) write_message(text);
  }
  return settings.exported && status < kStopped ? write_export(settings, status) : status;
}

}  // namespace

Command batch_command() {
  return {
      .name = "batch",
      .summary = "classify whole folders: one row per image, into a file",
      .description =
          "Name the most likely classes of many images: one row per input, even if it cannot be "
          "read. The same command resumes a run that was stopped.",
      .usage = "[-m MODEL] [OPTION...] INPUT... -o OUT",
      .examples = kExamples,
      .operands = kInputOperands,
      .add_options = add_options,
      .run = run};
}

}  // namespace vit::tools
