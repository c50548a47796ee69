#include "tools/rows/exports/page.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "tools/draw/thumbnail.h"
#include "tools/output/file.h"
#include "tools/output/format.h"
#include "tools/output/html.h"
#include "tools/output/path_text.h"
#include "tools/output/reason.h"
#include "tools/rows/exports/page_parts.h"
#include "tools/rows/shard.h"
#include "vit/base/atomic_file.h"
#include "vit/base/error.h"
#include "vit/data/directory.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kAtOnce = 256;  // rows whose images are read in parallel

/// What is known before the first picture is made.
struct Overview {
  std::uint64_t rows = 0, failed = 0;
  std::optional<std::string> folder{};  ///< contains all paths; ends in a slash
  std::map<std::string, size_t> labels{};
  std::vector<std::string> names{};  ///< of the labels

  size_t label(const std::string& name) {
    const auto [place, added] = labels.try_emplace(name, names.size());
    if (added) names.push_back(name);
    return place->second;
  }
};

Overview look_through(const ClassRows& source, const PageParts& parts) {
  Overview overview;
  Results results = source.open();
  while (const auto row = results.next()) {
    if (parts.stop && *parts.stop) break;
    ++overview.rows;
    overview.failed += row->failed ? 1 : 0;
    auto& folder = overview.folder;
    if (!folder) folder = row->path.substr(0, row->path.rfind('/') + 1);
    while (!row->path.starts_with(*folder))
      folder->resize(folder->size() < 2 ? 0 : folder->rfind('/', folder->size() - 2) + 1);
  }
  if (overview.rows > kMostPageRows)
    fail_at(source.path.string(), "has ", overview.rows, " rows, a page shows at most ",
            kMostPageRows, "; export them as .parquet, or pages of parts of the folder");
  return overview;
}

/// The small pictures: embedded in the page, or files in a folder beside it.
class Pictures {
 public:
  Pictures(const fs::path& folder, bool embed, const PageParts& parts)
      : folder_(folder), embed_(embed), parts_(parts) {
    if (!embed) fs::create_directories(folder);
  }

  /// What the page shows for these rows; empty where there is no picture, and then the reason.
  struct Picture {
    std::string place{};
    std::string reason{};
  };
  std::vector<Picture> make(const std::vector<StoredRow>& rows) {
    std::vector<Input> inputs;
    const auto& stop = parts_.stop ? *parts_.stop : data::kNeverStop;
    for (const auto& row : rows)
      inputs.push_back(row.failed ? Input{} : input_of_row(row.number, row.path, stop, finder_));
    std::vector<Picture> pictures(rows.size());
    parallel_for(parts_.pool, rows.size(), [&](size_t i, size_t) {
      if (!rows[i].failed) pictures[i] = picture(inputs[i]);
    });
    for (const auto& made : pictures)
      if (!embed_ && !made.place.empty()) used_.insert(made.place);
    return pictures;
  }

  /// Removes the files that an earlier page has used and this one does not.
  void remove_others() const {
    std::error_code ignored;
    if (embed_ && !fs::exists(folder_, ignored)) return;
    std::vector<fs::path> others;
    for (const auto& entry : fs::recursive_directory_iterator(folder_, ignored)) {
      const std::string name = entry.path().lexically_relative(folder_).generic_string();
      if (is_ours(name) && !used_.contains(name)) others.push_back(entry.path());
    }
    for (const auto& path : others) fs::remove(path, ignored);
  }

 private:
  /// "3f/a01b23c4d5e6f7.jpg"
  static bool is_ours(std::string_view name) {
    return name.size() == 21 && name[2] == '/' &&
           name.substr(0, 17).find_first_not_of("0123456789abcdef/") == name.npos &&
           (name.ends_with(".jpg") || name.ends_with(".png"));
  }

  Picture picture(const Input& input) const {
    try {
      if (embed_) return {.place = data_url(thumbnail(load_image(input, parts_.decoding)))};
      return {.place = picture_file(input)};
    } catch (const std::exception& error) {
      return {.reason = reason_of(error, input.path)};
    }
  }

  /// Named by a hash of path, size and time, so that each picture is made only once.
  std::string picture_file(const Input& input) const {
    const Stamp stamp = stamp_of(input);
    const std::uint64_t hash = path_hash(input.path + '\n' + std::to_string(stamp.bytes) + ' ' +
                                         std::to_string(stamp.time));
    const std::string digits = formatted_hash(hash);
    const std::string name = digits.substr(0, 2) + "/" + digits.substr(2);
    for (const auto* ending : {".jpg", ".png"})
      if (fs::exists(folder_ / (name + ending))) return name + ending;
    const std::string bytes = thumbnail(load_image(input, parts_.decoding));
    const std::string whole = name + (bytes.starts_with("\x89PNG") ? ".png" : ".jpg");
    write(folder_ / whole, bytes);
    return whole;
  }

  static std::string formatted_hash(std::uint64_t hash) {
    std::string bytes(8, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(hash & 0xff);
      hash >>= 8;
    }
    return to_hex(bytes);
  }

  /// Renamed when it is complete: a later run must not use half a picture. Not synced: there may be
  /// thousands of files.
  static void write(const fs::path& path, std::string_view bytes) {
    fs::create_directories(path.parent_path());
    write_atomically(path, std::as_bytes(std::span(bytes)), AtomicFile::Sync::kNo);
  }

  fs::path folder_;
  bool embed_;
  const PageParts& parts_;
  InputFinder finder_;
  std::set<std::string> used_;
};

std::string facts_text(const StoredRow& row) {
  std::string text = row.facts.taken;
  if (!row.facts.camera.empty()) text += (text.empty() ? "" : ", ") + row.facts.camera;
  return text;
}

Json row_json(const StoredRow& row, const Pictures::Picture& picture, Overview& overview) {
  const bool damaged = !row.failed && !row.remark.empty();
  Json json = Json::array();
  json.push_back(row.number);
  json.push_back(as_utf8(row.path.substr(overview.folder->size())));
  json.push_back(row.failed ? 1 : damaged ? 2 : 0);
  json.push_back(as_utf8(picture.reason.empty() ? row.remark : picture.reason));
  json.push_back(picture.place);
  json.push_back(as_utf8(facts_text(row)));
  if (row.failed) return json;
  for (const Prediction& p : row.predictions) {
    json.push_back(overview.label(as_utf8(p.label)));
    json.push_back(p.probability);
  }
  return json;
}

/// The folder of the images as a URL seen from the page.
std::string base_of(const std::string& folder, const fs::path& output) {
  std::error_code ignored;
  const fs::path page = fs::weakly_canonical(fs::absolute(output).parent_path(), ignored);
  const fs::path images =
      fs::weakly_canonical(fs::absolute(folder.empty() ? "." : folder), ignored);
  const fs::path relative = images.lexically_relative(page);
  std::string url;
  for (const auto& part : relative) {
    if (part.empty() || part == ".") continue;
    url += url_escaped(part.string()) + "/";
  }
  return url;
}

std::string replaced(std::string text, std::string_view name, const std::string& value) {
  text.replace(text.find(name), name.size(), value);
  return text;
}

std::string note_of(const ClassRows& source, const Overview& overview) {
  std::string note = format_count(overview.rows) + (overview.rows == 1 ? " row" : " rows");
  if (overview.failed != 0) note += ", " + format_count(overview.failed) + " failed";
  note += ", from " + source.path.filename().string();
  if (source.header.contains("model") && source.header["model"].is_string())
    note += "; model " + source.header["model"].get<std::string>();
  if (!overview.folder->empty()) note += "; names are those in " + *overview.folder;
  return note;
}

/// JSON within a script element.
std::string script_json(const Json& json) {
  std::string text = dump(json), safe;
  for (const char c : text) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

std::string page_html(const ClassRows& source, const Overview& overview, const std::string& title,
                      const Json& data) {
  std::string body =
      replaced(std::string(kResultsBody), "{{NOTE}}", page_text(note_of(source, overview)));
  body = replaced(std::move(body), "{{TITLE}}", page_text(title));
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         page_text(title) + "</title>\n<style>" + std::string(kSheetStyle) +
         std::string(kResultsStyle) + "</style></head><body>\n<main>\n" + body +
         "</main>\n<script type=\"application/json\" id=\"data\">" + script_json(data) +
         "</script>\n<script>" + std::string(kResultsScript) + "</script>\n</body></html>\n";
}

}  // namespace

fs::path pictures_of(const fs::path& page) {
  return fs::path(page).replace_extension().string() + "_files";
}

std::uint64_t write_page(const ClassRows& source, const fs::path& output, const PageParts& parts) {
  Overview overview = look_through(source, parts);
  if (!overview.folder) overview.folder.emplace();
  const bool embed = overview.rows <= kMostEmbeddedPictures;
  const fs::path folder = pictures_of(output);
  Pictures pictures(folder, embed, parts);
  Json data;
  data["folder"] = as_utf8(*overview.folder);
  data["base"] = base_of(*overview.folder, output);
  data["pictures"] = embed ? "" : url_escaped(folder.filename().string()) + "/";
  Json rows = Json::array();
  Results results = source.open();
  std::vector<StoredRow> some;
  const auto take = [&] {
    const auto made = pictures.make(some);
    for (size_t i = 0; i < some.size(); ++i) rows.push_back(row_json(some[i], made[i], overview));
    some.clear();
    if (parts.progress) parts.progress(rows.size(), overview.rows);
  };
  while (auto row = results.next()) {
    if (parts.stop && *parts.stop) return rows.size();
    some.push_back(std::move(*row));
    if (some.size() == kAtOnce) take();
  }
  take();
  if (parts.stop && *parts.stop) return rows.size();
  data["labels"] = overview.names;
  data["rows"] = std::move(rows);
  write_file(output, page_html(source, overview, output.stem().string(), data));
  pictures.remove_others();
  return overview.rows;
}

}  // namespace vit::tools
