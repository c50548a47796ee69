#include "tools/duplicates/duplicates.h"

#include "tools/duplicates/output.h"
#include "tools/indexed/report.h"
#include "tools/output/terminal.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit duplicates photos.index -o duplicates.html\n"
    "  vit duplicates photos.index --threshold 0.98 -o duplicates.csv\n"
    "  vit duplicates photos.index --json | jq -r '.groups[].duplicates[].path'\n";

void add_options(cxxopts::Options& options) {
  const auto text_or = [](const char* value) {
    return cxxopts::value<std::string>()->default_value(value);
  };
  options.add_options("", {
                              {"t,threshold", "smallest cosine similarity of a duplicate, 0 to 1",
                               text_or("0.9"), "T"},
                              {"groups", "most groups on an .html page", text_or("200"), "N"},
                          });
  add_report_options(options);
  add_reading_options(options);
}

void say_left_out(const Duplicates& found, const std::string& path) {
  if (found.gone + found.changed == 0) return;
  std::string text;
  if (found.gone != 0) text = count_of(found.gone, "image is", "images are") + " gone";
  if (found.changed != 0)
    text += (text.empty() ? "" : " and ") + count_of(found.changed, "image has", "images have") +
            " changed";
  write_message(path + ": " + text +
                " since it was made; they are left out, `vit index` brings it up to date");
}

int run(const cxxopts::ParseResult& arguments) {
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  const auto threshold = static_cast<float>(parse_probability("--threshold", text("threshold")));
  const size_t groups = parse_count("--groups", text("groups"), 1, 1'000'000);
  const ReportSettings settings = parse_report(arguments);
  const index::Index index = index::read_index(settings.index);
  ThreadPool pool(settings.threads);
  const Duplicates found = find_duplicates(index, threshold, {&pool, active_isa()});
  const DuplicatesReport report{settings.index, index, threshold, found};
  write_report(settings,
               {.text = [&] { return duplicates_text(report); },
                .csv = [&] { return duplicates_csv(report); },
                .json = [&] { return duplicates_json(report); },
                .sheet = [&] { return duplicates_sheet(report, groups); }},
               pool);
  if (!settings.quiet) {
    say_left_out(found, settings.index.string());
    write_message(settings.index.string() + ": " + duplicates_summary(found));
  }
  return 0;
}

}  // namespace

Command duplicates_command() {
  return {.name = "duplicates",
          .summary = "find images of an index that are nearly the same",
          .description =
              "Group the images of an index (vit index) that are nearly the same, and propose "
              "which one of each group to keep: the one with the most pixels, then the largest "
              "file. Nothing is ever deleted.",
          .usage = "INDEX [OPTION...]",
          .examples = kExamples,
          .operands = {.least = 1, .most = 1, .noun = "index", .expected = "one index file"},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
