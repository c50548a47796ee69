#include "tools/pick/pick.h"

#include <algorithm>

#include "tools/indexed/report.h"
#include "tools/output/terminal.h"
#include "tools/pick/labelled.h"
#include "tools/pick/output.h"
#include "tools/pick/uncertain.h"
#include "vit/base/error.h"
#include "vit/index/diverse.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit pick photos.index 50 -o next.html\n"
    "  vit pick photos.index 50 --labelled labelled/ -o next.csv\n"
    "  vit pick photos.index 50 --uncertain classes.csv\n"
    "  vit pick photos.index 50 -m model.safetensors --among 500\n";

constexpr size_t kMostPicks = 1'000'000;

struct Settings {
  ModelSettings model;
  ReportSettings report;
  size_t count = 0;
  std::string labelled;   ///< empty: none
  std::string uncertain;  ///< rows of vit batch; empty: none
  bool classify = false;
  size_t among = 0;  ///< picks the most diverse of the N most uncertain; 0: the most uncertain

  bool by_doubt() const { return classify || !uncertain.empty(); }
};

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"uncertain",
               "the images that these rows of `vit batch` are least sure of: .csv, .jsonl or .db",
               text(), "RESULTS"},
              {"m,model", "a classifier: the images that it is least sure of, classified now",
               text(), "MODEL"},
              {"among", "the most diverse of the M most uncertain images", text(), "M"},
              {"labelled",
               "images that have labels: a folder, a .csv with a column 'path', or a list of "
               "paths; they are not picked, and images like them come last",
               text(), "PATH"},
          });
  add_report_options(options);
  add_model_options(options);
}

Settings parse_settings(const cxxopts::ParseResult& arguments) {
  const auto text = [&](const char* name) {
    return arguments.count(name) ? arguments[name].as<std::string>() : std::string();
  };
  Settings settings;
  settings.model = parse_model_settings(arguments);
  settings.count = parse_count("N", arguments.unmatched()[1], 1, kMostPicks);
  settings.labelled = text("labelled");
  settings.uncertain = text("uncertain");
  settings.classify = arguments.count("model") != 0;
  if (settings.classify && !settings.uncertain.empty())
    fail_usage("give one of --uncertain and -m: both say how uncertain the images are");
  if (arguments.count("among")) {
    if (!settings.by_doubt()) fail_usage("--among needs --uncertain or -m");
    settings.among = parse_count("--among", text("among"), settings.count, kMostPicks);
  }
  std::vector<std::string> inputs;
  for (const auto& name : {settings.labelled, settings.uncertain})
    if (!name.empty()) inputs.push_back(name);
  settings.report = parse_report(arguments, inputs);
  settings.report.exif = settings.model.exif;
  return settings;
}

/// Removes labelled images and sorts the others, the most uncertain first.
void order_doubts(std::vector<Doubt>& doubts, std::span<const size_t> labelled) {
  std::erase_if(
      doubts, [&](const Doubt& doubt) { return std::ranges::binary_search(labelled, doubt.row); });
  std::ranges::sort(doubts, [](const Doubt& a, const Doubt& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  });
}

/// The most diverse of some, in their order.
std::vector<Doubt> diverse_of(const index::Index& index, std::span<const Doubt> doubts,
                              std::span<const size_t> labelled, const Settings& settings,
                              ThreadPool& pool) {
  index::Vectors candidates = index.vectors;
  candidates.live.assign(candidates.rows, 0);
  for (const auto& doubt : doubts) candidates.live[doubt.row] = 1;
  std::vector<Doubt> chosen;
  for (const auto& hit :
       index::pick_diverse(candidates, labelled, settings.count, {&pool, active_isa()}))
    chosen.push_back(*std::ranges::find(doubts, hit.row, &Doubt::row));
  order_doubts(chosen, {});
  return chosen;
}

void say_without_rows(const Settings& settings, size_t rows, size_t images) {
  if (settings.report.quiet || rows == images) return;
  write_message(settings.uncertain + ": has no classes for " +
                count_of(images - rows, "image", "images") + " of the index; they are not picked");
}

int pick_uncertain(const Settings& settings, PickReport& report, std::span<const size_t> labelled,
                   ThreadPool& pool) {
  std::vector<Doubt> doubts;
  if (settings.classify) {
    ModelDoubts result = doubts_of_model(report.index, settings.model);
    if (result.stopped != 0) {
      write_message("stopped, nothing was written");
      return result.stopped;
    }
    if (result.doubts.empty())
      fail_at(report.path.string(), "no image could be classified; see the messages above");
    doubts = std::move(result.doubts);
  } else {
    doubts = doubts_of_results(report.index, settings.uncertain);
    say_without_rows(settings, doubts.size(), index::live_rows(report.index.vectors).size());
  }
  order_doubts(doubts, labelled);
  if (settings.among != 0) {
    doubts.resize(std::min(doubts.size(), settings.among));
    doubts = diverse_of(report.index, doubts, labelled, settings, pool);
  }
  doubts.resize(std::min(doubts.size(), settings.count));
  for (auto& doubt : doubts)
    report.picks.push_back({doubt.row, doubt.score, std::move(doubt.guesses)});
  return 0;
}

int run(const cxxopts::ParseResult& arguments) {
  const Settings settings = parse_settings(arguments);
  const auto& path = settings.report.index;
  const index::Index index = index::read_index(path);
  std::vector<size_t> labelled;
  if (!settings.labelled.empty()) labelled = labelled_rows(index, settings.labelled);
  ThreadPool pool(settings.report.threads);
  PickReport report{path, index, settings.by_doubt() ? PickBy::kUncertain : PickBy::kDiverse};
  if (settings.by_doubt()) {
    const int status = pick_uncertain(settings, report, labelled, pool);
    if (status != 0) return status;
  } else {
    for (const auto& hit :
         index::pick_diverse(index.vectors, labelled, settings.count, {&pool, active_isa()}))
      report.picks.push_back({.row = hit.row, .score = hit.score});
  }
  write_report(settings.report,
               {.text = [&] { return pick_text(report); },
                .csv = [&] { return pick_csv(report); },
                .json = [&] { return pick_json(report); },
                .sheet = [&] { return pick_sheet(report); }},
               pool);
  if (!settings.report.quiet && report.picks.size() < settings.count)
    write_message(path.string() + ": " + count_of(report.picks.size(), "image", "images") +
                  " to pick from, fewer than the " + std::to_string(settings.count) + " asked for");
  return 0;
}

}  // namespace

Command pick_command() {
  return {.name = "pick",
          .summary = "choose the images of an index to label next",
          .description =
              "Choose N images of an index (vit index) to label next: those that differ most from "
              "each other and from what is labelled already, or those that a classifier is least "
              "sure of.",
          .usage = "INDEX N [--uncertain RESULTS | -m MODEL] [OPTION...]",
          .examples = kExamples,
          .operands = {.least = 2,
                       .most = 2,
                       .noun = "operand",
                       .expected = "an index file and how many images to pick"},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
