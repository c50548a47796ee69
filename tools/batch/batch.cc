#include "tools/batch/batch.h"

#include <algorithm>

#include "patch/image/pixel_budget.h"
#include "tools/batch/classified_boxes.h"
#include "tools/cli/check_output.h"
#include "tools/cli/groups.h"
#include "tools/cli/word_options.h"
#include "tools/inputs/boxes.h"
#include "tools/inputs/glob.h"
#include "tools/output/terminal.h"
#include "tools/rows/exports/exports.h"
#include "tools/rows/header.h"
#include "tools/rows/run/run.h"
#include "tools/rows/sorting/sort_options.h"
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

/// Where the rows go, and what is made of them when they are complete.
struct OutputPlan {
  RowOutput rows;
  std::optional<ExportKind> exported{};
  bool boxes = false;  ///< MegaDetector's results with classes
};

struct BatchSettings {
  ModelSettings model;
  RunSettings run;
  OutputPlan output;
  size_t top = 5;
  float least = 0.0f;  ///< probability that a class must have to be named
  RowShape shape;      ///< without the number of classes
  SortSettings sort;
  std::vector<GroupSpec> groups;
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

ResultKind kind_of(const fs::path& output) {
  using enum ResultKind;
  auto kinds = result_kinds({kCsv, kJsonl, kSqlite, kStandardOutput});
  for (const auto& [ending, kind] : export_kinds()) kinds.emplace_back(ending, kJsonl);
  return choose_by_ending(output, kinds);
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

SortSettings parse_sorting(const cxxopts::ParseResult& arguments, const InputSettings& inputs,
                           float least) {
  SortSettings sort =
      parse_sort_settings(arguments, {{"copy-to", SortBy::kCopy}, {"link-to", SortBy::kLink}});
  if (sort.by == SortBy::kNothing) return sort;
  const char* option = sort.by == SortBy::kCopy ? "copy-to" : "link-to";
  if (inputs.boxes || inputs.every != 0)
    fail_usage("option '--", option, "' places files, but ",
               inputs.boxes ? "--boxes gives parts of images" : "--every gives frames of videos");
  sort.least = least;
  for (const auto& operand : inputs.operands) {
    if (is_within(sort.folder, operand) ||
        (is_glob(operand) && takes_files_below(operand, sort.folder)))
      fail_usage("option '--", option, "' got '", sort.folder.string(),
                 "', which is inside the input '", operand,
                 "': the sorted files would become inputs; give a folder outside of it");
    sort.bases.push_back(base_of(operand));
  }
  return sort;
}

/// Pages and Parquet are made at the end; a JSONL file beside them keeps the rows.
RowOutput export_rows_of(const RunSettings& parsed) {
  if (const auto& shard = parsed.shard)
    fail_usage("part ", shard->index, " of ", shard->count, " (", shard->source, ") cannot be a ",
               parsed.output.extension().string(),
               ", expected -o FILE.csv, .jsonl or .db; `vit export` makes it from the joined file");
  const std::string output = parsed.output.string();
  return {ResultKind::kJsonl, output + ".rows.jsonl", output};
}

OutputPlan plan_output(const RunSettings& parsed) {
  if (const auto rows = box_rows(parsed)) return {.rows = *rows, .boxes = true};
  const ResultKind kind = kind_of(parsed.output);
  if (const auto exported = export_kind(parsed.output))
    return {.rows = export_rows_of(parsed), .exported = exported};
  return {.rows = {kind, parsed.output}};
}

BatchSettings parse_batch(const cxxopts::ParseResult& arguments) {
  BatchSettings settings;
  settings.model = parse_model_settings(arguments);
  settings.top = parse_count("--top", arguments["top"].as<std::string>(), 1, 1'000'000);
  settings.least = static_cast<float>(
      parse_probability("--min-probability", arguments["min-probability"].as<std::string>()));
  RunSettings run = parse_run_settings(arguments, settings.model.classifier.threads);
  run.inputs.boxes = parse_boxes(arguments, run.inputs);
  settings.output = plan_output(run);
  settings.run = with_output(run, settings.output.rows);
  settings.shape.facts = arguments.count("exif-columns") != 0;
  settings.shape.csv_safe = arguments.count("csv-safe") != 0;
  if (settings.shape.csv_safe && settings.run.kind != ResultKind::kCsv)
    fail_usage("--csv-safe applies to CSV only, expected -o FILE.csv");
  settings.sort = parse_sorting(arguments, settings.run.inputs, settings.least);
  settings.groups = parse_groups(arguments);
  return settings;
}

/// The model, and the groups of its classes if there are any.
struct Answerer {
  Classifier classifier;
  std::optional<Groups> groups;

  Answerer(const BatchSettings& settings, const weights::Checkpoint& checkpoint)
      : classifier(load_classifier(checkpoint, for_rows(settings.model))),
        groups(make_groups(settings.groups, classifier, settings.run.quiet)) {}

  size_t classes() const { return groups ? groups->count() : classifier.config().head.classes; }
  ClassFolders folders() const {
    return class_folders(groups ? groups->names() : classifier.labels(), classes());
  }
};

Answerer load_answerer(const BatchSettings& settings) {
  const weights::Checkpoint checkpoint = open_model(settings.model);
  check_has_classes(checkpoint, settings.model);
  return {settings, checkpoint};
}

/// The best classes of a row's image, as many as the row has places.
std::vector<Prediction> predict(const Answerer& model, const Image& image, size_t top,
                                float least) {
  const std::vector<float> logits = model.classifier.logits({&image, 1}).front();
  check_answer(logits);
  auto predictions = top_answers(model.classifier, model.groups, logits, top);
  // The best class stays: a row below the threshold still has its best guess.
  const auto unlikely = [&](const Prediction& p) { return !(p.probability >= least); };
  const auto others = predictions.begin() + (predictions.empty() ? 0 : 1);
  predictions.erase(std::remove_if(others, predictions.end(), unlikely), predictions.end());
  return predictions;
}

/// The rows of earlier runs, which need no inference.
void sort_earlier(const RunSettings& run, const Json& header, Sorting& sorting,
                  const std::atomic<bool>& stop) {
  if (run.kind == ResultKind::kStandardOutput || run.restart || !fs::exists(run.output)) return;
  Results results(run.output, run.kind, run.shape);
  const auto stored = results.read_header();
  if (!stored) return;
  check_header(run.output, results, *stored, with_shard(header, run.shard));
  sort_rows(results, sorting, stop);
  if (!sorting.problem().empty()) write_message(sorting.problem());
}

/// Returns `status`, the exit status of the run, unless a signal stops the export.
int write_export(const BatchSettings& settings, int status, const StopSignals& signals) {
  const auto rows = export_rows(find_class_rows(settings.run.output),
                                {.output = settings.output.rows.shown,
                                 .kind = *settings.output.exported,
                                 .threads = settings.run.size.workers,
                                 .max_pixels = settings.model.max_pixels,
                                 .exif = settings.model.exif,
                                 .quiet = settings.run.quiet},
                                signals);
  if (rows) return status;
  write_message(std::string("stopped; ") + kResumeAdvice);
  return signals.exit_status();
}

/// What rows must have in common to be in one file.
Json header_of(const BatchSettings& settings, const Answerer& model, size_t top) {
  Json wanted;
  wanted["top"] = top;
  wanted["min_probability"] = settings.least;
  if (settings.shape.csv_safe) wanted["csv_safe"] = true;
  if (settings.shape.facts) wanted["exif_columns"] = true;
  if (const size_t most = settings.model.classifier.max_patches; most != 0)
    wanted["max_patches"] = most;
  if (model.groups) wanted["groups"] = model.groups->to_json();
  if (const auto& boxes = settings.run.inputs.boxes) {
    wanted["boxes"] = boxes->digest();
    wanted["box_threshold"] = static_cast<float>(boxes->settings().threshold);
    wanted["box_category"] = boxes->settings().category;
  }
  return make_header("batch", settings.model, model.classifier, wanted);
}

int run(const cxxopts::ParseResult& arguments) {
  const BatchSettings settings = parse_batch(arguments);
  const Answerer model = load_answerer(settings);
  RowShape shape = settings.shape;
  shape.top = std::min(settings.top, model.classes());
  Sorting sorting(settings.sort, model.folders());
  patch::PixelBudget budget(settings.model.max_pixels);
  Json header = header_of(settings, model, shape.top);
  const RunSettings rows = with_rows(settings.run, shape, header);
  // Until the end: a signal after the last row must not cut what is made from the rows.
  const StopSignals signals;
  const RunEnd end = run_rows(rows,
                              {.header = header,
                               .answer =
                                   [&](Row& row, const std::atomic<bool>& stop) {
                                     const auto decoding = settings.model.decoding(&budget, &stop);
                                     const Image image = load_image(row, decoding, rows);
                                     row.predictions =
                                         predict(model, image, shape.top, settings.least);
                                   },
                               .before_writing = [&](Row& row) { sorting.place(row); },
                               .before_run =
                                   [&](const std::atomic<bool>& stop) {
                                     if (settings.sort.by != SortBy::kNothing)
                                       sort_earlier(rows, header, sorting, stop);
                                   },
                               .closing_text = [&] { return sorting.summary(); }},
                              signals);
  if (!end.complete) return end.status;
  if (settings.output.boxes) {
    const std::string text = write_classified_boxes(rows, model.classifier.name());
    if (!rows.quiet) write_message(text);
  }
  return settings.output.exported ? write_export(settings, end.status, signals) : end.status;
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
