#include "tools/rows/header.h"

#include <array>
#include <fstream>
#include <set>

#include "tools/cli/model_files.h"
#include "tools/output/digest.h"
#include "tools/output/json_depth.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr size_t kMostClasses = 1'000'000;        // limit of --top
constexpr size_t kMostNumbers = size_t{1} << 28;  // of a row; the widest models have 2^24

void add_file(Digest& digest, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(size_t{1} << 20);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    digest.add(std::as_bytes(std::span(buffer.data(), static_cast<size_t>(file.gcount()))));
  }
  if (!file.eof()) fail_at(path.string(), "cannot read");
}

/// The names of the classes affect the rows, and may be outside of the weight file.
std::string labels_digest(const std::vector<std::string>& labels) {
  Digest digest = Digest::sha256();
  for (const auto& label : labels)
    digest.add(std::as_bytes(std::span(label.c_str(), label.size() + 1)));
  return digest.finish();
}

/// The sentences that stand for the labels affect the rows too.
std::string words_digest(const WordClasses& words) {
  Digest digest = Digest::sha256();
  const auto add = [&](const std::string& text) {
    digest.add(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
  };
  for (const auto& label : words.labels) {
    add(label.name);
    add(std::to_string(label.prompts.size()));
    for (const auto& prompt : label.prompts) add(prompt);
  }
  if (words.none_of_these) add(std::to_string(*words.none_of_these));
  return digest.finish();
}

void compare(const Json& stored, const Json& wanted, const std::string& name,
             std::vector<std::string>& lines) {
  if (stored == wanted) return;
  if (!stored.is_object() || !wanted.is_object()) {
    lines.push_back(name + " is " + dump(stored) + " in the file, " + dump(wanted) + " now");
    return;
  }
  std::set<std::string> keys;
  for (const auto& [key, value] : stored.items()) keys.insert(key);
  for (const auto& [key, value] : wanted.items()) keys.insert(key);
  for (const auto& key : keys)
    compare(stored.contains(key) ? stored[key] : Json(),
            wanted.contains(key) ? wanted[key] : Json(), name.empty() ? key : name + "." + key,
            lines);
}

}  // namespace

std::string model_digest(const std::filesystem::path& model) {
  Digest digest = Digest::sha256();
  for (const auto& file : weight_files(model)) add_file(digest, file);
  return digest.finish();
}

Json make_header(std::string_view command, const ModelSettings& settings,
                 const Classifier& classifier, const Json& options) {
  Json header;
  header["vit"] = VIT_VERSION;
  header["command"] = command;
  header["model"] = classifier.name();
  header["model_sha256"] = model_digest(classifier.path());
  header["labels_sha256"] = labels_digest(classifier.labels());
  if (settings.classifier.words) header["words_sha256"] = words_digest(*settings.classifier.words);
  header["recipe"] = to_json(classifier.recipe());
  Json& all = header["options"] = options;
  all["exif"] = settings.exif == patch::Exif::kApply ? "apply" : "ignore";
  if (settings.classifier.positions) all["positions"] = to_string(*settings.classifier.positions);
  if (settings.classifier.heads != 0) all["heads"] = settings.classifier.heads;
  if (settings.classifier.precision)
    all["precision"] = *settings.classifier.precision == Precision::kInt8 ? "int8" : "f32";
  if (settings.classifier.temperature != 1.0f) all["temperature"] = settings.classifier.temperature;
  if (settings.classifier.merge_tokens != 0) all["merge"] = settings.classifier.merge_tokens;
  return header;
}

void match_format(const std::filesystem::path& path, ResultKind kind, RowShape& shape,
                  Json& header) {
  shape.stamps = kind != ResultKind::kStandardOutput;
  if (!shape.stamps) return;
  header["format"] = kRowFormat;
  if (!std::filesystem::exists(path)) return;
  const auto stored = Results(path, kind, shape, {.read_only = true}).read_header();
  const Json there = stored && !nests_deep(*stored) ? Json::parse(*stored, nullptr, false) : Json();
  if (!there.is_object() || there.contains("format")) return;
  shape.stamps = false;
  header.erase("format");
}

Json with_shard(Json header, const std::optional<Shard>& shard) {
  if (shard) header["shard"] = {{"index", shard->index}, {"count", shard->count}};
  return header;
}

std::optional<Shard> take_shard(Json& header) {
  const auto found = header.find("shard");
  if (found == header.end()) return std::nullopt;
  const auto index = count_in(*found, "index"), count = count_in(*found, "count");
  if (!index || !count) return std::nullopt;
  header.erase("shard");
  return Shard{*index, *count, {}};
}

Json parse_header(const std::filesystem::path& path, Results& results, const std::string& stored) {
  Json header = nests_deep(stored) ? Json() : Json::parse(stored, nullptr, false);
  if (header.is_object()) return header;
  results.check_damage();
  fail_at(path.string(), "its header is damaged, it is not a JSON object; start again with ",
          "--restart");
}

std::optional<std::uint64_t> count_in(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::vector<std::string> differences(const Json& stored, const Json& wanted) {
  std::vector<std::string> lines;
  compare(stored, wanted, "", lines);
  return lines;
}

void check_header(const std::filesystem::path& path, Results& results, const std::string& stored,
                  const Json& wanted) {
  // Both have been through text, so that equal numbers have been rounded in the same way.
  const auto lines =
      differences(parse_header(path, results, stored), Json::parse(dump(wanted), nullptr, false));
  if (lines.empty()) return;
  results.check_damage();
  std::string text;
  for (const auto& line : lines) text += "\n  " + line;
  fail_at(path.string(), "has other options, so new rows would not fit its rows:", text,
          "\nuse the same options, give another output, or start again with --restart");
}

RowShape shape_of(const std::filesystem::path& path, const Json& header) {
  const auto refuse = [&](const char* option, const Json& value) {
    fail_at(path.string(), "its header is damaged: options.", option, " is ", dump(value));
  };
  RowShape shape;
  const Json options = header.contains("options") ? header["options"] : Json::object();
  if (!options.is_object())
    fail_at(path.string(), "its header is damaged: options is ", dump(options));
  if (options.contains("top")) {
    shape.top = count_in(options, "top").value_or(kMostClasses + 1);
    if (shape.top > kMostClasses) refuse("top", options["top"]);
  }
  if (options.contains("shape")) {
    const Json& extents = options["shape"];
    if (!extents.is_array() || extents.size() > 2) refuse("shape", extents);
    size_t numbers = 1;
    for (const Json& extent : extents) {
      const size_t count = extent.is_number_unsigned() ? extent.get<size_t>() : 0;
      if (count == 0 || count > kMostNumbers / numbers) refuse("shape", extents);
      numbers *= count;
      shape.features.push_back(count);
    }
  }
  shape.stamps = header.contains("format");
  shape.facts = options.contains("exif_columns") && options["exif_columns"] == true;
  shape.csv_safe = options.contains("csv_safe") && options["csv_safe"] == true;
  return shape;
}

}  // namespace vit::tools
