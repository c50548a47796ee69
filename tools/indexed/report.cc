#include "tools/indexed/report.h"

#include <map>

#include "patch/image/pixel_budget.h"
#include "tools/cli/check_output.h"
#include "tools/cli/model_options.h"
#include "tools/inputs/inputs.h"
#include "tools/output/csv.h"
#include "tools/output/file.h"
#include "tools/output/format.h"
#include "tools/output/html.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "vit/data/directory.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// Empty for a member of an archive, which a browser cannot open.
std::string link_to(const std::string& path) {
  if (!path.starts_with('/') || split_member_name(path)) return {};
  std::string url = "file://";
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at + 1), path.size());
    url += "/" + url_escaped(path.substr(at + 1, end - at - 1));
    at = end;
  }
  return url;
}

/// In the order of their paths, so that each archive is listed once.
std::map<std::string, Input> inputs_of(const ContactSheet& sheet) {
  std::map<std::string, Input> inputs;
  for (const auto& group : sheet.groups)
    for (const auto& picture : group.pictures) inputs.try_emplace(picture.path);
  InputFinder finder;
  for (auto& [path, input] : inputs) input = input_of_row(1, path, data::kNeverStop, finder);
  return inputs;
}

std::string page_of(const ReportSettings& settings, const Report& report, ThreadPool& pool) {
  patch::PixelBudget budget(settings.max_pixels);
  patch::DecodeOptions decoding(settings.exif);
  decoding.max_pixels = settings.max_pixels;
  decoding.budget = &budget;
  const ContactSheet sheet = report.sheet();
  const auto inputs = inputs_of(sheet);
  const auto load = [&](const std::string& path) { return load_image(inputs.at(path), decoding); };
  return contact_sheet_html(sheet, load, pool);
}

std::string content_of(const ReportSettings& settings, const Report& report, ThreadPool& pool) {
  switch (settings.kind) {
    case ReportKind::kCsv:
      return report.csv();
    case ReportKind::kJson:
      return dump(report.json()) + "\n";
    case ReportKind::kHtml:
      return page_of(settings, report, pool);
    case ReportKind::kText:
      break;
  }
  return report.text();
}

}  // namespace

void add_report_options(cxxopts::Options& options) {
  options.add_options(
      "", {
              {"o,output", "a file instead of text: .csv, .json, or .html with small pictures",
               cxxopts::value<std::string>(), "FILE"},
              {"json", "one JSON document instead of text"},
              {"q,quiet", "no notes"},
          });
}

void add_reading_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Machine", {
                     {"threads", "worker threads (default: one per available core)", text(), "N"},
                     {"max-pixels", kMaxPixelsHelp, text()->default_value("500M"), "N"},
                 });
}

ReportSettings parse_report(const cxxopts::ParseResult& arguments,
                            const std::vector<std::string>& inputs) {
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  ReportSettings settings;
  settings.index = arguments.unmatched().front();
  settings.quiet = arguments.count("quiet") != 0;
  if (arguments.count("threads"))
    settings.threads = parse_count("--threads", text("threads"), 1, 1024);
  settings.max_pixels = parse_pixel_count("--max-pixels", text("max-pixels"));
  if (arguments.count("json")) settings.kind = ReportKind::kJson;
  if (!arguments.count("output")) return settings;
  if (arguments.count("json")) fail_usage("give one of --json and -o");
  settings.output = text("output");
  using enum ReportKind;
  settings.kind = choose_by_ending<ReportKind>(
      settings.output, {{".csv", kCsv}, {".json", kJson}, {".html", kHtml}});
  check_folder_of(settings.output);
  std::vector<fs::path> all{settings.index};
  all.insert(all.end(), inputs.begin(), inputs.end());
  check_outputs({settings.output}, all);
  return settings;
}

void write_report(const ReportSettings& settings, const Report& report, ThreadPool& pool) {
  const std::string content = content_of(settings, report, pool);
  if (settings.output.empty())
    write_output(content);
  else
    write_file(settings.output, content);
}

std::string shown_path(std::string_view path) {
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  const fs::path relative = fs::path(path).lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." ? std::string(path) : relative.string();
}

std::string size_text(const index::Entry& entry) {
  std::string text;
  if (entry.width != 0)
    text = std::to_string(entry.width) + " x " + std::to_string(entry.height) + ", ";
  return text + format_bytes(entry.bytes);
}

std::string count_of(std::uint64_t count, std::string_view one, std::string_view many) {
  return format_count(count) + " " + std::string(count == 1 ? one : many);
}

std::string entry_csv(const index::Entry& entry) {
  return csv_field(entry.path) + "," + std::to_string(entry.width) + "," +
         std::to_string(entry.height) + "," + std::to_string(entry.bytes);
}

void add_entry(const index::Entry& entry, Json& object) {
  object["path"] = std::string(entry.path);
  object["width"] = entry.width;
  object["height"] = entry.height;
  object["bytes"] = entry.bytes;
}

std::string found_line(const index::Entry& entry, float figure) {
  return formatted("%8.4f", double{figure}) + "  " + printable(shown_path(entry.path));
}

std::string found_csv(size_t rank, const index::Entry& entry, float figure) {
  return std::to_string(rank) + "," + formatted("%.6f", double{figure}) + "," + entry_csv(entry);
}

Json found_json(const index::Entry& entry, const char* name, float figure) {
  Json object;
  add_entry(entry, object);
  object[name] = figure;
  return object;
}

SheetPicture sheet_picture(const index::Entry& entry, float figure) {
  return {.path = std::string(entry.path),
          .link = link_to(std::string(entry.path)),
          .figure = formatted("%.4f", double{figure}),
          .detail = size_text(entry)};
}

}  // namespace vit::tools
