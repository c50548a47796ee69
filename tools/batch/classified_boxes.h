/// vit batch --boxes: the classes of the boxes in a file of MegaDetector.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tools/cli/options.h"
#include "tools/rows/run/run.h"

namespace vit::tools {

class BoxFile;

/// --boxes, --box-threshold and --box-category, as the group "Boxes".
void add_box_options(cxxopts::Options& options);
/// Null without --boxes. Throws a UsageError, or an Error if the file cannot be used.
std::shared_ptr<const BoxFile> parse_boxes(const cxxopts::ParseResult& arguments,
                                           const InputSettings& inputs);

/// Where the rows go, "OUT.rows.jsonl", if the output is a file in MegaDetector's format; else
/// none. Throws a UsageError for a shard.
std::optional<RowOutput> box_rows(const RunSettings& parsed);

/// Writes MegaDetector's file with the classes of the rows. Returns a summary, such as "out.json:
/// 12 of 12 boxes classified, 3 left out: below 0.2, …". `classifier`: the name of the model.
std::string write_classified_boxes(const RunSettings& run, const std::string& classifier);

}  // namespace vit::tools
