#include "tools/sort/sort.h"

#include <algorithm>

#include "tools/cli/groups.h"
#include "tools/cli/progress.h"
#include "tools/cli/stop_signals.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/rows/class_rows.h"
#include "tools/rows/sorting/sort_options.h"
#include "tools/rows/sorting/sorting.h"
#include "vit/base/error.h"
#include "weights/known/labels.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostClasses = 1'000'000;  // as many as a model may have

constexpr std::string_view kExamples =
    "  vit sort classes.csv --copy-to sorted\n"
    "  vit sort classes.csv --link-to sorted --min-probability 0.8 --keep-folders\n"
    "  vit sort classes.csv --copy-to sorted --groups dog,cat,bird\n"
    "  vit sort classes.csv --move-to sorted --failed-folder failed\n"
    "  vit sort --undo sorted\n";

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  add_sort_options(options);
  add_groups_option(options);
  options.add_options(
      "", {
              {"move-to", "move the files; a journal in DIR makes it possible to undo this", text(),
               "DIR"},
              {"undo", "move the files of an earlier --move-to back", text(), "DIR"},
              {"min-probability",
               "smallest probability of a class to sort by, 0 to 1 (default: that of RESULTS)",
               text(), "P"},
              {"q,quiet", "no progress and no message on success"},
          });
}

/// What must be known of all rows before the first file is placed.
struct Overview {
  std::uint64_t rows = 0;
  std::map<size_t, std::string> labels;      ///< of the best classes
  std::map<size_t, std::string> all_labels;  ///< of all classes in the rows
  bool multi_label = false;                  ///< probabilities do not add up to one
  std::optional<fs::path> common;            ///< the folder that contains all files

  void add(std::span<const Prediction> predictions) {
    if (predictions.empty()) return;
    labels.try_emplace(predictions.front().index, predictions.front().label);
    for (const Prediction& p : predictions) all_labels.try_emplace(p.index, p.label);
    multi_label = multi_label || are_independent(predictions);
  }
};

fs::path common_folder(const fs::path& a, const fs::path& b) {
  fs::path common;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end() && *x == *y; ++x, ++y)
    common /= *x;
  return common;
}

Overview look_through(const ClassRows& source, const std::atomic<bool>& stop) {
  Overview overview;
  Results results = source.open();
  while (!stop) {
    const auto row = results.next();
    if (!row) break;
    ++overview.rows;
    overview.add(row->predictions);
    const fs::path folder = fs::path(row->path).lexically_normal().parent_path();
    overview.common = overview.common ? common_folder(*overview.common, folder) : folder;
  }
  return overview;
}

int say_stopped(const StopSignals& signals) {
  write_message(std::string("stopped; ") + kResumeAdvice);
  return signals.exit_status();
}

/// From the labels that occur in the rows; the others are not known. They are enough to recognise
/// ImageNet's classes.
std::optional<Groups> groups_of(const std::vector<GroupSpec>& specs, const ClassRows& source,
                                const Overview& overview) {
  if (specs.empty() || overview.all_labels.empty()) return std::nullopt;
  std::vector<std::string> labels(weights::imagenet1k_classes().size());
  for (const auto& [index, label] : overview.all_labels) {
    if (index >= kMostClasses)
      fail_at(source.path.string(), "a row names class ", index, ", expected less than ",
              kMostClasses);
    if (index >= labels.size()) labels.resize(index + 1);
    labels[index] = label;
  }
  const size_t classes = labels.size();
  return Groups(specs, ClassNames(source.path.string(), std::move(labels), classes),
                {.multi_label = overview.multi_label, .some_labels = true});
}

struct Task {
  SortSettings settings;
  std::vector<GroupSpec> groups;
  bool quiet = false;
};

int sort_files(const ClassRows& source, Task task) {
  SortSettings& settings = task.settings;
  const StopSignals signals;
  const Overview overview = look_through(source, signals.flag());
  if (signals.number() != 0) return say_stopped(signals);
  // An empty base contains every relative path.
  settings.bases = {overview.common && !overview.common->empty() ? overview.common->string() : "."};
  const auto groups = groups_of(task.groups, source, overview);
  if (groups && !groups->remark().empty()) write_message(groups->remark());
  Sorting sorting(std::move(settings), groups ? class_folders(groups->names(), groups->count())
                                              : class_folders(overview.labels));
  {
    ProgressLine progress(task.quiet ? ProgressLine::Show::kNever
                                     : ProgressLine::Show::kOnTerminal);
    Results results = source.open();
    for (std::uint64_t rows = 0; signals.number() == 0; ++rows) {
      auto row = results.next();
      if (!row) break;
      if (groups) row->predictions = groups->of(row->predictions);
      sorting.place(*row, signals.flag());
      progress.update([&](size_t) { return count_text("sorted", rows, overview.rows); });
    }
    sorting.finish();
  }
  if (signals.number() != 0) return say_stopped(signals);
  const std::string problem = sorting.problem();
  if (!problem.empty())
    write_message(problem +
                  "\nrelative names are looked up in this folder: run it where `vit batch` ran");
  if (!task.quiet)
    write_message(source.path.string() + ": " + format_count(overview.rows) +
                  (overview.rows == 1 ? " row" : " rows") + sorting.summary());
  return problem.empty() ? 0 : 1;
}

int undo(const fs::path& folder, bool quiet) {
  const StopSignals signals;
  const Undone undone = undo_moves(folder, [&] { return signals.number() != 0; });
  if (signals.number() != 0) return say_stopped(signals);
  for (const auto& problem : undone.problems) write_message(problem);
  if (!quiet)
    write_message(folder.string() + ": " + format_count(undone.files) +
                  (undone.files == 1 ? " file" : " files") + " moved back" +
                  (undone.problems.empty()
                       ? ""
                       : ", " + format_count(undone.problems.size()) + " not; see above"));
  return undone.problems.empty() ? 0 : 1;
}

int run(const cxxopts::ParseResult& arguments) {
  SortSettings settings = parse_sort_settings(
      arguments,
      {{"copy-to", SortBy::kCopy}, {"link-to", SortBy::kLink}, {"move-to", SortBy::kMove}});
  const bool quiet = arguments.count("quiet") != 0, sorts = settings.by != SortBy::kNothing;
  const auto& operands = arguments.unmatched();
  if (arguments.count("undo") != 0) {
    if (!operands.empty() || sorts)
      fail_usage("--undo DIR given with other names, expected it alone: the journal in DIR says ",
                 "what was moved");
    return undo(arguments["undo"].as<std::string>(), quiet);
  }
  if (operands.empty()) fail_usage("no file of results given, expected the output of `vit batch`");
  if (!sorts)
    fail_usage("no folder to sort into given, expected --copy-to, --link-to or --move-to DIR");
  const ClassRows source = find_class_rows(operands.front());
  settings.least = source.least;
  if (arguments.count("min-probability") != 0)
    settings.least = static_cast<float>(
        parse_probability("--min-probability", arguments["min-probability"].as<std::string>()));
  return sort_files(source, {std::move(settings), parse_groups(arguments), quiet});
}

}  // namespace

Command sort_command() {
  return {.name = "sort",
          .summary = "sort files into folders by the rows of `vit batch`",
          .description =
              "Copy, link or move the files of a `vit batch` into folders of their classes, from "
              "its rows: no image is classified again. The same command resumes after a stop.",
          .usage = "RESULTS (--copy-to | --link-to | --move-to) DIR [OPTION...]",
          .examples = kExamples,
          .operands = class_rows_operands(0),
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
