#include "tools/rows/class_rows.h"

#include "tools/cli/usage_error.h"
#include "tools/rows/header.h"
#include "vit/base/error.h"

namespace vit::tools {

Results ClassRows::open() const {
  Results results(path, kind, shape, {.read_only = true});
  results.read_header();
  return results;
}

bool are_independent(std::span<const Prediction> predictions) {
  constexpr double kRounding = 1e-3;  // of the numbers in the rows
  double sum = 0.0;
  for (const auto& prediction : predictions) sum += double{prediction.probability};
  return sum > 1.0 + kRounding;
}

ClassRows find_class_rows(const std::filesystem::path& path) {
  ClassRows rows;
  rows.path = path;
  const auto kind = result_kind(path);
  if (!kind || *kind == ResultKind::kStandardOutput || *kind == ResultKind::kNumpy)
    fail_usage("'", path.string(),
               "' is not a file of classes, expected the output of `vit batch`: .csv, .jsonl or "
               ".db");
  rows.kind = *kind;
  if (!std::filesystem::exists(path)) fail_at(path.string(), "no such file");
  Results results(path, *kind, {}, {.read_only = true});
  const auto text = results.read_header();
  if (!text) fail_at(path.string(), "is empty, expected the rows of `vit batch`");
  rows.header = parse_header(path, results, *text);
  const Json& header = rows.header;
  rows.shape = shape_of(path, header);
  if (rows.shape.top == 0)
    fail_at(path.string(), "has no classes, expected the output of `vit batch`");
  const Json& options = header["options"];
  if (options.contains("min_probability") && options["min_probability"].is_number())
    rows.least = options["min_probability"].get<float>();
  return rows;
}

}  // namespace vit::tools
