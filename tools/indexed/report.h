/// What the commands that read an index share: where their result goes, and how images are shown.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "patch/image/image.h"
#include "tools/cli/options.h"
#include "tools/draw/contact_sheet.h"
#include "tools/output/json.h"
#include "vit/base/thread_pool.h"
#include "vit/index/file.h"

namespace vit::tools {

enum class ReportKind { kText, kCsv, kJson, kHtml };

struct ReportSettings {
  std::filesystem::path index{};
  std::filesystem::path output{};  ///< empty: standard output
  ReportKind kind = ReportKind::kText;
  bool quiet = false;
  size_t threads = 0;  ///< 0: one per available core
  size_t max_pixels = patch::kUsualMaxPixels;
  patch::Exif exif = patch::Exif::kApply;  ///< of the small pictures
};

/// --output, --json and --quiet.
void add_report_options(cxxopts::Options& options);
/// --threads and --max-pixels, for commands without the options of a model.
void add_reading_options(cxxopts::Options& options);

/// The index is the first operand. `inputs` are further files that the output must not be. Throws a
/// UsageError, or an Error if the folder of the output does not exist.
ReportSettings parse_report(const cxxopts::ParseResult& arguments,
                            const std::vector<std::string>& inputs = {});

/// The same result in every form; only the one that is written is made.
struct Report {
  std::function<std::string()> text;
  std::function<std::string()> csv;
  std::function<Json()> json;
  std::function<ContactSheet()> sheet;
};

/// Writes the result to the output, whole or not at all.
void write_report(const ReportSettings& settings, const Report& report, ThreadPool& pool);

/// A path as it is shown to people: relative, if it is below the current folder.
std::string shown_path(std::string_view path);
/// "640 x 480, 53 KB"
std::string size_text(const index::Entry& entry);
/// "12 images"
std::string count_of(std::uint64_t count, std::string_view one, std::string_view many);

/// The columns that every table has for an image, and their titles.
constexpr std::string_view kEntryColumns = "path,width,height,bytes";
std::string entry_csv(const index::Entry& entry);
/// Adds the same fields to a JSON object.
void add_entry(const index::Entry& entry, Json& object);
/// An image that was found: "  0.9876  path", "1,0.987600," and its entry_csv(), and its fields
/// with the figure called `name`.
std::string found_line(const index::Entry& entry, float figure);
std::string found_csv(size_t rank, const index::Entry& entry, float figure);
Json found_json(const index::Entry& entry, const char* name, float figure);
/// The small picture of an image, linked to its file.
SheetPicture sheet_picture(const index::Entry& entry, float figure);

}  // namespace vit::tools
