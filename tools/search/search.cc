#include "tools/search/search.h"

#include "tools/cli/image_input.h"
#include "tools/cli/model_options.h"
#include "tools/cli/word_options.h"
#include "tools/search/output.h"
#include "tools/search/queries.h"
#include "vit/base/error.h"
#include "vit/base/thread_pool.h"
#include "vit/index/search.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit search photos.index --image dog.jpg -k 20\n"
    "  vit search photos.index \"two dogs in the snow\" -o dogs.html\n"
    "  vit search photos.index \"horse\" + \"stripes\" - image:grass.jpg\n";

struct Settings {
  ModelSettings model;
  ReportSettings report;
  std::vector<Query> queries;
  size_t count = 20;
};

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"image", "an image to search for; may be given several times", text(), "FILE"},
              {"k,top", "images for each query", text()->default_value("20"), "N"},
              {"m,model", "the model of the index, if it is not where it was", text(), "MODEL"},
          });
  add_report_options(options);
  add_model_options(options);
}

std::vector<std::string> images_of(std::span<const Query> queries) {
  std::vector<std::string> images;
  for (const Query& query : queries)
    for (const Term& term : query.terms)
      if (term.image) images.push_back(term.content);
  return images;
}

Settings parse_settings(const cxxopts::ParseResult& arguments) {
  Settings settings;
  settings.model = parse_model_settings(arguments);
  const std::vector<std::string> images = values_of(arguments, "image");
  check_standard_input(images);
  settings.queries = parse_queries(std::span(arguments.unmatched()).subspan(1), images);
  settings.count = parse_count("--top", arguments["top"].as<std::string>(), 1, 1'000'000);
  settings.report = parse_report(arguments, images_of(settings.queries));
  settings.report.exif = settings.model.exif;
  return settings;
}

int run(const cxxopts::ParseResult& arguments) {
  const Settings settings = parse_settings(arguments);
  const auto& path = settings.report.index;
  const index::Index index = index::read_index(path);
  const Matrix queries = vectors_of_queries(settings.queries, settings.model, path, index);
  ThreadPool pool(settings.report.threads);
  const auto hits = index::search(index.vectors, queries, settings.count, {&pool, active_isa()});
  const SearchResults results{path, index, settings.queries, hits};
  write_report(settings.report,
               {.text = [&] { return search_text(results); },
                .csv = [&] { return search_csv(results); },
                .json = [&] { return search_json(results); },
                .sheet = [&] { return search_sheet(results); }},
               pool);
  return 0;
}

}  // namespace

Command search_command() {
  return {
      .name = "search",
      .summary = "find the images of an index that are most like others",
      .description =
          "Find the images of an index (vit index) that are most like an image or a text, by the "
          "cosine of their features. Texts need a model with a text tower. + and - between "
          "two of them add and subtract their features; image:FILE names an image among texts.",
      .usage = "INDEX [--image FILE]... [TEXT|image:FILE [+|- ...]]... [OPTION...]",
      .examples = kExamples,
      .operands = {.least = 1, .noun = "index", .expected = "an index file and what to search for"},
      .add_options = add_options,
      .run = run};
}

}  // namespace vit::tools
