#include "tools/cluster/cluster.h"

#include "tools/cluster/output.h"
#include "tools/indexed/report.h"
#include "tools/output/terminal.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit cluster photos.index -k 20 -o clusters.html\n"
    "  vit cluster photos.index -k 20 --seed 7 -o clusters.csv\n";

constexpr size_t kMostClusters = 100'000;

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"k,clusters", "number of clusters", text(), "N"},
              {"seed", "seed of the random start; the same seed gives the same clusters",
               text()->default_value("0"), "N"},
              {"pictures", "images of each cluster in text and on an .html page, nearest first",
               text()->default_value("12"), "N"},
          });
  add_report_options(options);
  add_reading_options(options);
}

int run(const cxxopts::ParseResult& arguments) {
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  if (!arguments.count("clusters")) fail_usage("no number of clusters given, expected -k N");
  const index::ClusterOptions options{
      .clusters = parse_count("--clusters", text("clusters"), 1, kMostClusters),
      .seed = parse_count("--seed", text("seed"), 0, size_t{1} << 62)};
  const size_t pictures = parse_count("--pictures", text("pictures"), 1, 1'000'000);
  const ReportSettings settings = parse_report(arguments);
  const index::Index index = index::read_index(settings.index);
  const size_t images = index::live_rows(index.vectors).size();
  if (options.clusters > images)
    fail_at(settings.index.string(), "has ", count_of(images, "image", "images"), ", expected at ",
            "least as many as the ", options.clusters, " clusters; give a smaller -k");
  ThreadPool pool(settings.threads);
  const auto result = index::cluster(index.vectors, options, {&pool, active_isa()});
  const ClusterReport report{settings.index, index, result, options.seed, pictures};
  write_report(settings,
               {.text = [&] { return cluster_text(report); },
                .csv = [&] { return cluster_csv(report); },
                .json = [&] { return cluster_json(report); },
                .sheet = [&] { return cluster_sheet(report); }},
               pool);
  if (!settings.quiet) write_message(settings.index.string() + ": " + cluster_summary(result));
  return 0;
}

}  // namespace

Command cluster_command() {
  return {.name = "cluster",
          .summary = "group the images of an index by similarity",
          .description =
              "Group the images of an index (vit index) into clusters by the directions of their "
              "features (spherical k-means), with the most typical images of each first.",
          .usage = "INDEX -k N [OPTION...]",
          .examples = kExamples,
          .operands = {.least = 1, .most = 1, .noun = "index", .expected = "one index file"},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
