#include "tools/export/export.h"

#include "tools/cli/check_output.h"
#include "tools/cli/model_options.h"
#include "tools/cli/options.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/rows/class_rows.h"
#include "tools/rows/exports/exports.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit export classes.csv -o classes.html\n"
    "  vit export classes.db -o classes.parquet\n";

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"o,output", "the new file: .html, a page of small pictures, or .parquet", text(),
               "FILE"},
              {"exif", "orientation of the pictures: apply or ignore",
               text()->default_value("apply"), "HOW"},
              {"q,quiet", "no progress and no message on success"},
          });
  options.add_options(
      "Machine", {
                     {"threads", "worker threads (default: one per available core)", text(), "N"},
                     {"max-pixels", kMaxPixelsHelp, text()->default_value("500M"), "N"},
                 });
}

ExportSettings parse(const cxxopts::ParseResult& arguments) {
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  if (!arguments.count("output")) fail_usage("no output given, expected -o FILE.html or .parquet");
  ExportSettings settings{.output = text("output")};
  settings.kind = choose_by_ending(settings.output, export_kinds());
  if (arguments.count("threads"))
    settings.threads = parse_count("--threads", text("threads"), 1, 1024);
  settings.max_pixels = parse_pixel_count("--max-pixels", text("max-pixels"));
  if (text("exif") != "apply" && text("exif") != "ignore")
    fail_usage("option '--exif' got '", text("exif"), "', expected apply or ignore");
  if (text("exif") == "ignore") settings.exif = patch::Exif::kIgnore;
  settings.quiet = arguments.count("quiet") != 0;
  return settings;
}

int run(const cxxopts::ParseResult& arguments) {
  const ExportSettings settings = parse(arguments);
  check_folder_of(settings.output);
  const ClassRows source = find_class_rows(arguments.unmatched().front());
  const StopSignals signals;
  const auto rows = export_rows(source, settings, signals);
  if (!rows) {
    write_message("stopped; nothing was written");
    return signals.exit_status();
  }
  if (!settings.quiet)
    write_message(settings.output.string() + ": " + format_count(*rows) +
                  (*rows == 1 ? " row of " : " rows of ") + source.path.string());
  return 0;
}

}  // namespace

Command export_command() {
  return {.name = "export",
          .summary = "write the rows of `vit batch` as a page of pictures or as Parquet",
          .description =
              "Write the rows of a `vit batch` in another form: a page of small pictures to look "
              "through, filter and sort, or an Apache Parquet table. No image is classified again.",
          .usage = "RESULTS -o FILE [OPTION...]",
          .examples = kExamples,
          .operands = class_rows_operands(1),
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
