/// The rows of a `vit batch`, for commands that read them.
#pragma once

#include <filesystem>
#include <span>

#include "tools/cli/command.h"
#include "tools/output/json.h"
#include "tools/rows/results.h"

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

/// Whether these probabilities of a row show that its classes do not exclude each other: they add
/// up to more than one.
bool are_independent(std::span<const Prediction> predictions);

/// At least `least` of the one such file that a command reads.
constexpr Operands class_rows_operands(size_t least) {
  return {.least = least,
          .most = 1,
          .noun = "file of results",
          .expected = "one output of vit batch: .csv, .jsonl or .db"};
}

}  // namespace vit::tools
