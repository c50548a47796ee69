/// Queries: images and texts, added and subtracted.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tools/cli/model_options.h"
#include "tools/output/json.h"
#include "vit/base/matrix.h"
#include "vit/index/file.h"

namespace vit::tools {

/// Start of an operand that names an image file instead of a text.
constexpr std::string_view kImageMark = "image:";

struct Term {
  float sign = 1.0f;
  bool image = false;
  std::string content{};  ///< a file name or a text
};

struct Query {
  std::string label{};  ///< as it was typed: "horse + stripes - grass"
  std::vector<Term> terms{};
};

/// Operands are terms; "+" and "-" between two of them join them to one query. Each of `images` is
/// a query of its own. Throws a UsageError.
std::vector<Query> parse_queries(std::span<const std::string> operands,
                                 std::span<const std::string> images);

/// A unit vector for each query, with the model of the index (unless settings.model names it) as
/// the index was made. Throws an Error: another model, no text tower, an image that cannot be read.
Matrix vectors_of_queries(std::span<const Query> queries, ModelSettings settings,
                          const std::filesystem::path& path, const index::Index& index);

}  // namespace vit::tools
