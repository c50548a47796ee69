/// The rows of a `vit batch`, for commands that read them.
#pragma once

#include <filesystem>

#include "tools/batch/results/results.h"
#include "tools/output/json.h"

namespace vit::tools {

/// A file of rows with classes, which may be read several times.
struct ClassRows {
  std::filesystem::path path;
  ResultKind kind = ResultKind::kCsv;
  RowShape shape;
  Json header{};
  float least = 0.0f;  ///< --min-probability of the run that wrote it

  /// Opens it at its first row.
  Results open() const;
};

/// Throws a UsageError if the name is not that of such a file, an Error if it has no classes.
ClassRows find_class_rows(const std::filesystem::path& path);

}  // namespace vit::tools
