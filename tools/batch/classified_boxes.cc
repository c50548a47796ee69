#include "tools/batch/classified_boxes.h"

#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>

#include "tools/inputs/boxes.h"
#include "tools/output/file.h"
#include "tools/rows/results.h"
#include "vit/base/error.h"
#include "vit/base/text.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using MegaJson = nlohmann::ordered_json;

/// In MegaDetector's format of times, which names no time zone.
std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return text.data();
}

double rounded(float probability) {
  return std::round(static_cast<double>(probability) * 1e5) / 1e5;
}

MegaJson classes_of(const StoredRow& row, std::map<std::size_t, std::string>& categories) {
  MegaJson classes = MegaJson::array();
  for (const Prediction& best : row.predictions) {
    categories[best.index] = best.label;
    classes.push_back({std::to_string(best.index), rounded(best.probability)});
  }
  return classes;
}

/// Removes what an earlier classifier has written.
void clear_classes(MegaJson& images) {
  for (auto& image : images)
    if (const auto found = image.find("detections"); found != image.end() && found->is_array())
      for (auto& detection : *found) detection.erase("classifications");
}

}  // namespace

void add_box_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Boxes",
      {
          {"boxes",
           "MegaDetector's results: classify its boxes in the images of the folder INPUT; -o "
           "OUT.json has the same results with classes",
           text(), "FILE"},
          {"box-threshold", "smallest confidence of a box, 0 to 1 (default: 0.2)", text(), "P"},
          {"box-category", "category of the boxes, or all (default: animal)", text(), "NAME"},
      });
}

std::shared_ptr<const BoxFile> parse_boxes(const cxxopts::ParseResult& arguments,
                                           const InputSettings& inputs) {
  for (const auto* option : {"box-threshold", "box-category"})
    if (arguments.count(option) && !arguments.count("boxes"))
      fail_usage("option '--", option, "' given without --boxes FILE");
  if (!arguments.count("boxes")) return nullptr;
  std::error_code ignored;
  if (inputs.operands.size() != 1 || !fs::is_directory(inputs.operands.front(), ignored))
    fail_usage(
        "--boxes needs one INPUT, the folder that MegaDetector was given: its file names "
        "are relative to that");
  if (inputs.every != 0) fail_usage("--boxes and --every given, expected one of them");
  BoxSettings settings{.file = arguments["boxes"].as<std::string>(),
                       .folder = inputs.operands.front()};
  if (arguments.count("box-threshold"))
    settings.threshold =
        parse_probability("--box-threshold", arguments["box-threshold"].as<std::string>());
  if (arguments.count("box-category"))
    settings.category = arguments["box-category"].as<std::string>();
  return std::make_shared<const BoxFile>(settings);
}

std::optional<RowOutput> box_rows(const RunSettings& parsed) {
  const std::string output = parsed.output.string();
  if (!parsed.inputs.boxes || ending_of(output) != ".json") return std::nullopt;
  if (const auto& shard = parsed.shard)
    fail_usage("part ", shard->index, " of ", shard->count, " (", shard->source,
               ") cannot write MegaDetector's results, expected -o FILE.csv, .jsonl or .db");
  return RowOutput{ResultKind::kJsonl, output + ".rows.jsonl", output};
}

std::string write_classified_boxes(const RunSettings& run, const std::string& classifier) {
  const BoxFile& boxes = *run.inputs.boxes;
  MegaJson json = boxes.json();
  clear_classes(json["images"]);
  Results results(run.output, run.kind, run.shape, {.read_only = true});
  results.read_header();
  std::map<std::size_t, std::string> categories;
  std::size_t classified = 0;
  while (const auto row = results.next()) {
    const auto found = boxes.find(row->path);
    if (!found || row->failed) continue;
    json["images"][found->first]["detections"][found->second - 1]["classifications"] =
        classes_of(*row, categories);
    ++classified;
  }
  MegaJson named = MegaJson::object();
  for (const auto& [index, label] : categories) named[std::to_string(index)] = label;
  json["classification_categories"] = named;
  json.erase("classification_category_descriptions");
  if (!json["info"].is_object()) json["info"] = {{"format_version", "1.4"}};
  json["info"]["classifier"] = classifier;
  json["info"]["classification_completion_time"] = now();
  write_file(run.shown, json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  std::string text = run.shown + ": " + format_count(classified) + " of " +
                     format_count(boxes.count()) + " boxes classified";
  if (boxes.left_out() != 0)
    text += ", " + format_count(boxes.left_out()) + " left out: below " +
            MegaJson(boxes.settings().threshold).dump() + ", or of another category than " +
            boxes.settings().category;
  return text;
}

}  // namespace vit::tools
