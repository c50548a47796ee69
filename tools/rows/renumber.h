/// Rows whose numbers are not their places in the file, as earlier versions wrote them.
#pragma once

#include <filesystem>

#include "tools/rows/results.h"
#include "tools/rows/sums.h"

namespace vit::tools {

/// A row's number is not its place.
class Misnumbered : public DamagedRows {
 public:
  using DamagedRows::DamagedRows;
};

/// Replaces the file by one in which the rows have their places as numbers.
void renumber(const std::filesystem::path& path, ResultKind kind, const RowShape& shape);

}  // namespace vit::tools
